import { epochSeconds } from '#shared/base/clock.ts';
import { randomId } from '#shared/base/random.ts';
import { isLoopback } from '#shared/http/loopback.js';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import { displayUserCode } from '../base/user-code.ts';
import { GnapError } from './gnap-error.ts';
import type { InteractRequest } from './grant-request.ts';
import { mayPush } from './push.ts';
import { type Finish, LIFETIME, type PendingGrant } from './records.ts';
import type { GnapServer } from './server.ts';

/** The part of a pending grant through which a person comes to decide. */
export type Interaction = Pick<PendingGrant, 'uid' | 'userCode' | 'finish' | 'locales'>;

/**
 * The start modes by which a client reaches a person, with the OAuth grant type that the client must be registered for.
 */
const START_MODES = {
  redirect: 'authorization_code',
  user_code: 'urn:ietf:params:oauth:grant-type:device_code',
  user_code_uri: 'urn:ietf:params:oauth:grant-type:device_code',
} as const;

type StartMode = keyof typeof START_MODES;

export const INTERACTION_START_MODES = Object.keys(START_MODES) as readonly StartMode[];

const isStartMode = (mode: string): mode is StartMode => Object.hasOwn(START_MODES, mode);

export const FINISH_METHODS = ['redirect', 'push'] as const;

/** RFC 8628 section 6.1: there are no vowels, so that no code is a word. */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';

/** Begins an interaction. Throws `GnapError` if the client and this server have no mode in common. */
export function beginInteraction(
  { random, config }: Pick<GnapServer, 'random' | 'config'>,
  client: ClientRecord,
  interact: InteractRequest,
): Interaction & { readonly modes: readonly StartMode[] } {
  const modes = startModes(client, interact);
  const finish = finishOf(config, client, interact);
  const locales = interact.hints?.ui_locales?.join(' ');
  return {
    modes,
    uid: randomId(random),
    ...(modes.some((mode) => mode !== 'redirect') && { userCode: newUserCode(random) }),
    ...(finish && { finish: { ...finish, serverNonce: randomId(random) } }),
    ...(locales !== undefined && { locales }),
  };
}

function startModes(client: ClientRecord, { start }: InteractRequest): readonly StartMode[] {
  const asked = start.map((mode) => (typeof mode === 'string' ? mode : mode.mode));
  const may = (mode: StartMode) => client.grant_types.includes(START_MODES[mode]);
  const modes = [...new Set(asked)].filter(isStartMode).filter(may);
  if (modes.length > 0) return modes;
  const grants = client.grant_types.map((type) => type.replace(/^.*:/, '')).join(', ');
  throw new GnapError(
    'invalid_interaction',
    `start: redirect needs the grant authorization_code, a user code device_code; this client has ${grants || 'none'}`,
  );
}

function finishOf(
  config: GnapServer['config'],
  client: ClientRecord,
  { finish }: InteractRequest,
): Omit<Finish, 'serverNonce'> | undefined {
  if (finish === undefined) return undefined;
  const { method, uri, nonce: clientNonce, hash_method: hashMethod } = finish;
  if (method !== 'redirect' && method !== 'push') {
    throw new GnapError(
      'invalid_interaction',
      `finish: the methods are ${FINISH_METHODS.join(', ')}`,
    );
  }
  const refusal = finishRefusal(client, uri);
  if (refusal !== undefined) throw new GnapError('invalid_interaction', `finish: ${refusal}`);
  if (method === 'push' && !mayPush(config, uri)) {
    throw new GnapError('invalid_interaction', 'finish: gnap.push does not permit this uri');
  }
  return { method, uri, clientNonce, hashMethod };
}

/**
 * Returns the reason why a client may not be notified at a URI, by the browser or by the server. A registered client
 * may use the URIs that it registered; any other client may use an https URI or a URI on the person's own machine (RFC
 * 9635 section 2.5.2.1).
 */
function finishRefusal(
  { redirect_uris, gnap, application_type }: ClientRecord,
  uri: string,
): string | undefined {
  const url = URL.parse(uri);
  if (url === null || url.username + url.password !== '') return 'uri is no URI, or has a user';
  if (uri.includes('#')) return 'uri has a fragment';
  const isLocal = url.protocol === 'http:' && isLoopback(url.hostname);
  if (gnap?.unknown) {
    return url.protocol === 'https:' || isLocal ? undefined : 'uri is neither https nor loopback';
  }
  const isFree = isLocal && application_type === 'native';
  // RFC 8252 section 7.3: any port is allowed.
  const withoutPort = (one: string) =>
    isFree ? one.replace(/^(http:\/\/(?:\[[^\]]*\]|[^:/]*))(?::\d+)?/, '$1') : one;
  const isRegistered = redirect_uris?.some((one) => withoutPort(one) === withoutPort(uri)) === true;
  return isRegistered ? undefined : 'uri is not registered for this client';
}

function newUserCode(random: GnapServer['random']): string {
  let code = '';
  while (code.length < 8) {
    const [octet = 0] = random(1);
    // 240 is the largest multiple of 20 in an octet, so every letter is equally likely.
    if (octet < 240) code += LETTERS[octet % LETTERS.length];
  }
  return code;
}

/** Returns the member `interact` of the answer (RFC 9635 section 3.3). */
export function interactAnswer(
  { config, clock }: Pick<GnapServer, 'config' | 'clock'>,
  { uid, userCode, finish, exp }: PendingGrant,
  modes: readonly StartMode[],
): object {
  const code = userCode && displayUserCode(userCode);
  const values: Readonly<Record<StartMode, unknown>> = {
    redirect: `${config.issuer}/gnap/interact/${uid}`,
    user_code: code,
    user_code_uri: { code, uri: `${config.issuer}/device` },
  };
  return {
    ...Object.fromEntries(modes.map((mode) => [mode, values[mode]])),
    ...(finish && { finish: finish.serverNonce }),
    expires_in: Math.min(LIFETIME, exp - epochSeconds(clock)),
  };
}
