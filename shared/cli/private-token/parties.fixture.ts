import { createPrivateKey } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '#shared/base/clock.ts';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { formatChallenge } from '#shared/http/auth/challenge.ts';
import { decodeBase64url, encodePadded } from '#shared/private-token/base64url.ts';
import {
  blindRsaPublicKey,
  blindSign,
  generateBlindRsaKey,
} from '#shared/private-token/blind-rsa.ts';
import { verifyBlindRsa } from '#shared/private-token/blind-rsa.ts';
import {
  DIRECTORY_PATH,
  DIRECTORY_TYPE,
  formatDirectory,
  REQUEST_TYPE,
  RESPONSE_TYPE,
} from '#shared/private-token/issuer-directory.ts';
import { serverNameOf } from '#shared/private-token/server-name.ts';
import {
  challengeDigest,
  encodeChallenge,
  type TokenChallenge,
} from '#shared/private-token/token-challenge.ts';
import { type TokenKeyPair, truncatedKeyId } from '#shared/private-token/token-key.ts';
import { parseTokenRequest } from '#shared/private-token/token-request.ts';
import { parseToken, type Token } from '#shared/private-token/token.ts';
import { BLIND_RSA, VOPRF } from '#shared/private-token/token-types.ts';
import { blindEvaluate, evaluate } from '#shared/private-token/voprf.ts';
import { generateVoprfKey } from '#shared/private-token/voprf-key.ts';
import { systemRandom } from '#shared/base/random.ts';
import { developmentCertificate } from '#shared/server/listen/certificate.ts';
import { TestShell } from '../cli.fixture.ts';
import { type Listening, listen, type Received, type Reply } from '../listen.fixture.ts';
import { deviceServer, granted } from '../oauth/authorization-server.fixture.ts';

/** The behaviour of the parties that a test changes. */
export interface Behaviour {
  /** Keys of the directory, the preferred first; the issuer issues with any that was ever there. */
  keys: TokenKeyPair[];
  directory?: (right: Reply) => Reply;
  response?: (right: Reply) => Reply;
  /** The value of WWW-Authenticate. */
  challenge?: () => string;
  /** The content that the site gives for a token. */
  content?: string;
  /** Returns true if the site refuses a request because it is busy. `hasToken`: the request has a token. */
  busy?: (hasToken: boolean) => boolean;
  /** Members that replace those of the usual challenge. */
  members?: Partial<TokenChallenge>;
  /** Seconds. */
  maxAge?: number;
  /** The key that the site asks for, if not the preferred one. */
  siteKey?: Buffer;
  authorizationServers?: string[];
  /** The issuer's metadata and challenge name Bearer and no DPoP. */
  bearerAlone?: true;
}

export interface Parties {
  readonly shell: TestShell;
  readonly behaviour: Behaviour;
  /** The authorization server, the issuer of tokens and the site. */
  readonly as: Listening;
  readonly issuer: Listening;
  readonly site: Listening;
  /** The URL that is asked for at the site. */
  readonly url: string;
  readonly data: string;
}

const PERSON = Buffer.from('{"sub":"person-1"}').toString('base64url');
export const ACCESS_TOKEN = `e30.${PERSON}.x`;

const REQUEST = '/private-token/request';
const METADATA = `/.well-known/oauth-protected-resource${REQUEST}`;

let rsa: Promise<TokenKeyPair> | undefined;
/** The same in all tests of a file: making one takes long. */
export async function blindRsaKey(): Promise<TokenKeyPair> {
  rsa ??= generateBlindRsaKey();
  return rsa;
}

/** Issues as it should (RFC 9578 sections 5.2 and 6.2), except for who may ask. */
export function issue(keys: readonly TokenKeyPair[], content: Buffer): Reply {
  const asked = parseTokenRequest(content);
  const key = keys.find(
    ({ type, id }) => type === asked?.type && truncatedKeyId(id) === asked.truncatedKeyId,
  );
  const body = asked && key && sign(key, asked.blinded);
  return body ? { body, fields: { 'content-type': RESPONSE_TYPE } } : { status: 422 };
}

function sign({ type, privateKey, publicKey }: TokenKeyPair, blinded: Buffer): Buffer | undefined {
  if (type === VOPRF) return blindEvaluate(privateKey, publicKey, blinded);
  const key = createPrivateKey({ key: privateKey, format: 'der', type: 'pkcs8' });
  return blindSign(key, blinded);
}

function verifies({ type, privateKey, publicKey }: TokenKeyPair, token: Token): boolean {
  if (type === VOPRF) return evaluate(privateKey, token.input).equals(token.authenticator);
  const key = blindRsaPublicKey(publicKey);
  return key !== undefined && verifyBlindRsa(key, token.input, token.authenticator);
}

/** A site, an issuer over TLS with the certificate of development, and who signs people in. */
export async function startParties(): Promise<Parties> {
  const data = await temporaryFolder();
  const tls = developmentCertificate({
    folder: join(data, 'tls'),
    hosts: [],
    clock: systemClock,
    random: systemRandom,
  });
  const behaviour: Behaviour = { keys: [await blindRsaKey(), generateVoprfKey()] };
  const everyKey = new Set<TokenKeyPair>();
  const as = await deviceServer({ polls: [granted({ access_token: ACCESS_TOKEN })] });
  const issuer = await listen((request, origin) => {
    for (const key of behaviour.keys) everyKey.add(key);
    return answerAsIssuer(request, origin, as.origin, behaviour, [...everyKey]);
  }, tls);
  const spent = new Set<string>();
  const site = await listen((request, origin) => {
    const members = { issuer: serverNameOf(issuer.origin), ...behaviour.members };
    const offered = challengesOf(origin, members, behaviour);
    const token = tokenOf(request);
    const key = [...everyKey].find(({ id }) => token?.keyId.equals(id));
    const good =
      token &&
      key &&
      offered.some(({ digest }) => digest.equals(token.challengeDigest)) &&
      verifies(key, token) &&
      !spent.has(token.nonce.toString('hex'));
    if (behaviour.busy?.(token !== undefined))
      return { status: 429, fields: { 'retry-after': '7' } };
    if (good) spent.add(token.nonce.toString('hex'));
    const challenge = behaviour.challenge?.() ?? offered.map(({ text }) => text).join(', ');
    return good
      ? { body: behaviour.content ?? 'welcome' }
      : { status: 401, fields: { 'www-authenticate': challenge }, body: 'who is there' };
  }, tls);

  const config = join(data, 'config.json');
  const members = {
    issuer: as.origin,
    tls: { resource: site.origin },
    privateTokens: { issuer: issuer.origin },
    data,
  };
  await writeFile(config, JSON.stringify(members));
  const shell = new TestShell({ HOME: await temporaryFolder(), COUNTERSIGN_CONFIG: config });
  return { shell, behaviour, as, issuer, site, url: `${site.origin}/members/`, data };
}

function answerAsIssuer(
  { line, authorization, content, headers }: Received,
  origin: string,
  as: string,
  behaviour: Behaviour,
  keys: readonly TokenKeyPair[],
): Reply {
  if (line === `GET ${DIRECTORY_PATH}`) {
    const directory = { requestUrl: origin + REQUEST, keys: behaviour.keys };
    const right = {
      body: formatDirectory(directory),
      fields: { 'content-type': DIRECTORY_TYPE },
    };
    return behaviour.directory?.(right) ?? right;
  }
  if (line === `GET ${METADATA}`) {
    const servers = behaviour.authorizationServers ?? [as];
    const more = behaviour.bearerAlone && { bearer_methods_supported: ['header'] };
    return { body: { resource: origin + REQUEST, authorization_servers: servers, ...more } };
  }
  if (line !== `POST ${REQUEST}`) return { status: 404 };
  if (headers['content-type'] !== REQUEST_TYPE) return { status: 415 };
  if (authorization !== `DPoP ${ACCESS_TOKEN}` || headers['dpop'] === undefined) {
    const scheme = behaviour.bearerAlone ? 'Bearer' : 'DPoP';
    const challenge = `${scheme} scope="everything", resource_metadata="${origin}${METADATA}"`;
    return { status: 401, fields: { 'www-authenticate': challenge } };
  }
  const right = issue(keys, content);
  return behaviour.response?.(right) ?? right;
}

function tokenOf({ authorization }: Received): Token | undefined {
  const [, text] = /^PrivateToken token="([^"]+)"$/.exec(authorization ?? '') ?? [];
  const bytes = text === undefined ? undefined : decodeBase64url(text);
  return bytes && parseToken(bytes);
}

function challengesOf(
  origin: string,
  members: Partial<TokenChallenge> & Pick<TokenChallenge, 'issuer'>,
  { keys, siteKey, maxAge = 600 }: Behaviour,
) {
  return [BLIND_RSA, VOPRF].flatMap((type) => {
    const key = keys.find((one) => one.type === type);
    if (key === undefined) return [];
    const origins = [serverNameOf(origin)];
    const bytes = encodeChallenge({ type, context: Buffer.alloc(0), origins, ...members });
    const params = {
      challenge: encodePadded(bytes),
      'token-key': encodePadded(siteKey ?? key.publicKey),
      'max-age': String(maxAge),
    };
    const text = formatChallenge({ scheme: 'PrivateToken', params });
    return [{ text, digest: challengeDigest(bytes) }];
  });
}
