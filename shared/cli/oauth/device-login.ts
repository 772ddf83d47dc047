import type { Clock } from '#shared/base/clock.ts';
import { Failure, type Shell } from '../arguments/command.ts';
import type { Form, PostForm } from './form-post.ts';
import { type Reply, NoAnswer } from '#shared/client/send.ts';
import { jsonObject, parseSafeUrl } from './http.ts';
import { OAuthFailure, type TokenAnswer, tokenAnswer } from './token-answer.ts';

/** A device authorization response (RFC 8628 section 3.2). */
export interface DeviceAuthorization {
  readonly deviceCode: string;
  readonly userCode: string;
  readonly verificationUri: string;
  /** With the user code in it. */
  readonly verificationUriComplete?: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  /** Seconds between two polls. */
  readonly interval: number;
}

/** How the person is kept informed while they approve. */
export interface Progress {
  /** Called every second. */
  remaining(seconds: number): void;
  say(line: string): void;
}

/** Seconds: RFC 8628 section 3.2, when the server says nothing. */
const DEFAULT_INTERVAL = 5;
/** Seconds that a `slow_down` adds for good (section 3.5). */
const SLOW_DOWN = 5;
/** Seconds that a server which does not answer is left alone at most. */
const LONGEST_BACKOFF = 60;

const EXPIRED = 'The code has expired before it was approved: run the command again.';

/** Errors that a person brings about (section 3.5), in words. */
const ENDS: ReadonlyMap<string, string> = new Map([
  ['access_denied', 'The request was denied.'],
  ['expired_token', EXPIRED],
]);

/** RFC 8628 section 3.1: asks for a code. Throws `Failure` when there is none that can be shown. */
export async function authorizeDevice(
  post: PostForm,
  url: string,
  form: Form,
  clock: Clock,
): Promise<DeviceAuthorization> {
  const answer = await post(url, form);
  if (answer.status !== 200) throw new OAuthFailure(answer, url);
  const {
    device_code,
    user_code,
    verification_uri,
    verification_uri_complete,
    expires_in,
    interval,
  } = jsonObject(answer, url);
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
 * RFC 8628 sections 3.4 and 3.5: asks for the token at the interval until the person has decided or the
 * code has expired. A server that does not answer, or has no time, is asked at growing intervals.
 * Throws `Failure` with what there is to say.
 */
export async function pollForToken(
  post: PostForm,
  url: string,
  form: Form,
  authorization: DeviceAuthorization,
  shell: Pick<Shell, 'clock' | 'wait'>,
  progress: Progress,
): Promise<TokenAnswer> {
  const { clock } = shell;
  const { deviceCode, expiresAt } = authorization;
  const message = { grant_type: DEVICE_CODE, device_code: deviceCode, ...form };
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
    const answer = await post(url, message).catch(undefinedIfNoAnswer);
    if (answer === undefined || isBusy(answer)) {
      seconds = Math.max(interval, Math.min(seconds * 2, LONGEST_BACKOFF));
      progress.say(`${reason(url, answer)}: trying again in ${seconds} s`);
      continue;
    }
    const outcome = readPoll(answer, url);
    if (typeof outcome === 'object') return outcome;
    if (outcome === 'slow_down') interval += SLOW_DOWN;
    seconds = interval;
  }
}

const DEVICE_CODE = 'urn:ietf:params:oauth:grant-type:device_code';

function readPoll(answer: Reply, url: string): TokenAnswer | 'authorization_pending' | 'slow_down' {
  try {
    return tokenAnswer(answer, url, 'dpop');
  } catch (failure) {
    if (!(failure instanceof OAuthFailure)) throw failure;
    const { error } = failure;
    if (error === 'authorization_pending' || error === 'slow_down') return error;
    throw new Failure(ENDS.get(error) ?? failure.message);
  }
}

function undefinedIfNoAnswer(error: unknown): undefined {
  if (!(error instanceof NoAnswer)) throw error;
}

/** Too many requests (RFC 6585 section 4), or a server's error. */
const isBusy = ({ status }: Reply) => status === 429 || status >= 500;

const reason = (url: string, answer: Reply | undefined) =>
  answer ? `${url} answers ${answer.status}` : `No answer from ${new URL(url).origin}`;

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const isLink = (value: unknown): value is string =>
  typeof value === 'string' && parseSafeUrl(value) !== undefined;
const isDuration = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0;
