import { deviceAuthorizationRequest, None } from 'oauth4webapi';
import type { Clock } from '#shared/base/clock.ts';
import { NoAnswer, type Send } from '#shared/client/send.ts';
import { Failure, type Shell } from '../arguments/command.ts';
import type { Prover } from './dpop.ts';
import { jsonObject, parseSafeUrl } from './http.ts';
import { throughLibrary } from './library.ts';
import { Busy, OAuthFailure } from './oauth-failure.ts';
import type { AuthorizationServer } from './server-metadata.ts';
import { type Form, given, requestGrant, type TokenAnswer } from './token-grant.ts';

/** A device authorization response (RFC 8628 section 3.2). */
export interface DeviceAuthorization {
  readonly deviceCode: string;
  readonly userCode: string;
  readonly verificationUri: string;
  /** The verification URI that contains the user code. */
  readonly verificationUriComplete?: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  /** Seconds between two polls. */
  readonly interval: number;
}

/** Informs the person during the wait for the approval. */
export interface Progress {
  /** Called every second. */
  remaining(seconds: number): void;
  say(line: string): void;
}

/** Seconds between two polls if the server names no interval (RFC 8628 section 3.2). */
const DEFAULT_INTERVAL = 5;
/** Seconds by which each `slow_down` extends the interval (section 3.5). */
const SLOW_DOWN = 5;
/** The most seconds between two requests to a server that does not answer. */
const LONGEST_BACKOFF = 60;

const EXPIRED = 'The code has expired before it was approved: run the command again.';

/** Errors that follow from what the person did (section 3.5), in words. */
const ENDS: ReadonlyMap<string, string> = new Map([
  ['access_denied', 'The request was denied.'],
  ['expired_token', EXPIRED],
  [
    'unmet_authentication_requirements',
    'You did not sign in by one of the ways that --acr-values names.',
  ],
]);

/** A client of the device flow. */
export interface DeviceClient {
  readonly client: string;
  /** The resource that it asks for at both endpoints. */
  readonly resource?: string | undefined;
}

/**
 * Requests a device code (RFC 8628 section 3.1). Throws `Failure` if the answer cannot be shown. These checks are here
 * since the library accepts a link of any scheme, and refuses an interval that is no number.
 */
export async function authorizeDevice(
  send: Send,
  server: AuthorizationServer,
  { client: client_id, ...asked }: DeviceClient & Form,
  clock: Clock,
): Promise<DeviceAuthorization> {
  server.endpoint('device_authorization_endpoint');
  const { reply, url } = await throughLibrary(send, (options) =>
    deviceAuthorizationRequest(server.metadata, { client_id }, None(), given(asked), options),
  );
  if (reply.status !== 200) throw new OAuthFailure(reply, url);
  const {
    device_code,
    user_code,
    verification_uri,
    verification_uri_complete,
    expires_in,
    interval,
  } = jsonObject(reply, url);
  if (
    !isText(device_code) ||
    !isText(user_code) ||
    !isLink(verification_uri) ||
    !isDuration(expires_in)
  ) {
    throw new Failure(`${url} gave no code that can be shown (RFC 8628 section 3.2)`);
  }
  return {
    deviceCode: device_code,
    userCode: user_code,
    verificationUri: verification_uri,
    ...(isLink(verification_uri_complete) && {
      verificationUriComplete: verification_uri_complete,
    }),
    expiresAt: clock.now() + expires_in * 1000,
    interval: isDuration(interval) ? interval : DEFAULT_INTERVAL,
  };
}

/**
 * RFC 8628 sections 3.4 and 3.5: polls for the token until the person has decided or the code has expired. If the
 * server is busy or does not answer, the intervals grow. Throws `Failure` with the reason.
 */
export async function pollForToken(
  send: Send,
  server: AuthorizationServer,
  { client, resource }: DeviceClient,
  { deviceCode, expiresAt, ...authorization }: DeviceAuthorization,
  prover: Prover,
  shell: Pick<Shell, 'clock' | 'wait'>,
  progress: Progress,
): Promise<TokenAnswer> {
  const { clock } = shell;
  const url = server.endpoint('token_endpoint');
  const form = { device_code: deviceCode, resource };
  const grant = { type: DEVICE_CODE, client, form, prover };
  const pause = async (seconds: number) => {
    const end = Math.min(clock.now() + seconds * 1000, expiresAt);
    for (let left = end - clock.now(); left > 0; left = end - clock.now()) {
      progress.remaining(Math.ceil((expiresAt - clock.now()) / 1000));
      await shell.wait(Math.min(left, 1000));
    }
  };

  let { interval } = authorization;
  let seconds = interval;
  for (;;) {
    await pause(seconds);
    if (clock.now() >= expiresAt) throw new Failure(EXPIRED);
    const outcome = await requestGrant(send, server, grant).catch(read);
    if (outcome instanceof Busy || outcome instanceof NoAnswer) {
      seconds = Math.max(interval, Math.min(seconds * 2, LONGEST_BACKOFF));
      progress.say(`${reason(url, outcome)}: trying again in ${seconds} s`);
      continue;
    }
    if (typeof outcome === 'object') return outcome;
    if (outcome === 'slow_down') interval += SLOW_DOWN;
    seconds = interval;
  }
}

const DEVICE_CODE = 'urn:ietf:params:oauth:grant-type:device_code';

/** Returns the errors after which the command polls again. Throws all other errors, in words. */
function read(failure: unknown): Busy | NoAnswer | 'authorization_pending' | 'slow_down' {
  if (failure instanceof Busy || failure instanceof NoAnswer) return failure;
  if (!(failure instanceof OAuthFailure)) throw failure;
  const { error } = failure;
  if (error === 'authorization_pending' || error === 'slow_down') return error;
  throw new Failure(ENDS.get(error) ?? failure.message);
}

const reason = (url: string, outcome: Busy | NoAnswer) =>
  outcome instanceof Busy
    ? `${url} answers ${outcome.status}`
    : `No answer from ${new URL(url).origin}`;

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const isLink = (value: unknown): value is string =>
  typeof value === 'string' && parseSafeUrl(value) !== undefined;
const isDuration = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0;
