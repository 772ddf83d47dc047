/** Issuer and origin of @cloudflare/privacypass-ts behind node:https and node:http. Argument: its JSON. */
import { readFileSync } from 'node:fs';
import http from 'node:http';
import type { RequestListener } from 'node:http';
import https from 'node:https';
import { buffer } from 'node:stream/consumers';
import {
  AuthorizationHeader,
  MediaType,
  privateVerif,
  publicVerif,
  TOKEN_TYPES,
  tokenRequestToTokenTypeEntry,
  util,
} from '@cloudflare/privacypass-ts';
import type { Token, TokenTypeEntry } from '@cloudflare/privacypass-ts';
import type { BarePrivacyPass, BareTokenKey } from './bare.ts';

const { port, issuerPort, tls, keys, body } = JSON.parse(process.argv[2] ?? '') as BarePrivacyPass;

const NAME = 'issuer.example';
const ALGORITHM = { name: 'RSA-PSS', hash: 'SHA-384' };

/** A type with its key. */
interface Kind {
  readonly entry: TokenTypeEntry;
  issue(request: Uint8Array): Promise<Uint8Array>;
  verify(token: Token): Promise<boolean>;
}

type Open = (privateKey: Uint8Array<ArrayBuffer>, publicKey: Uint8Array) => Kind | Promise<Kind>;

const OPEN = new Map<number, Open>([
  [
    TOKEN_TYPES.VOPRF.value,
    (privateKey, publicKey) => {
      const issuer = new privateVerif.Issuer(NAME, privateKey, publicKey);
      const origin = new privateVerif.Origin();
      return {
        entry: TOKEN_TYPES.VOPRF,
        issue: async (bytes) =>
          (await issuer.issue(privateVerif.TokenRequest.deserialize(bytes))).serialize(),
        verify: (token) => origin.verify(token, privateKey),
      };
    },
  ],
  [
    TOKEN_TYPES.BLIND_RSA.value,
    async (pkcs8, spki) => {
      const plain = new Uint8Array(util.convertRSASSAPSSToEnc(spki));
      const privateKey = await crypto.subtle.importKey('pkcs8', pkcs8, ALGORITHM, true, ['sign']);
      const publicKey = await crypto.subtle.importKey('spki', plain, ALGORITHM, true, ['verify']);
      const { PSS } = publicVerif.BlindRSAMode;
      const issuer = new publicVerif.Issuer(PSS, NAME, privateKey, publicKey);
      const origin = new publicVerif.Origin(PSS);
      const { BLIND_RSA: entry } = TOKEN_TYPES;
      return {
        entry,
        issue: async (bytes) =>
          (await issuer.issue(publicVerif.TokenRequest.deserialize(entry, bytes))).serialize(),
        verify: (token) => origin.verify(token, publicKey),
      };
    },
  ],
]);

const octets = (text: string) => new Uint8Array(Buffer.from(text, 'base64url'));

async function open({ type, privateKey, publicKey, challengeDigest }: BareTokenKey) {
  const kind = await OPEN.get(type)?.(octets(privateKey), octets(publicKey));
  if (kind === undefined) throw new Error(`no type ${type}`);
  return [type, { ...kind, challengeDigest: Buffer.from(challengeDigest, 'base64url') }] as const;
}

const kinds = new Map(await Promise.all(keys.map(open)));
const spent = new Set<string>();

/** A listener for what answers with content, or rejects. */
function listener(
  answer: (request: http.IncomingMessage) => Promise<string | Uint8Array>,
  type: string,
  refusal: number,
): RequestListener {
  return (request, response) =>
    void answer(request).then(
      (content) => response.writeHead(200, { 'Content-Type': type }).end(content),
      () => response.writeHead(refusal).end(),
    );
}

/** RFC 9578 sections 5.2 and 6.2. */
async function issue(request: http.IncomingMessage): Promise<Uint8Array> {
  const content = new Uint8Array(await buffer(request));
  const kind = kinds.get(tokenRequestToTokenTypeEntry(content).value);
  if (kind === undefined) throw new Error('type');
  return kind.issue(content);
}

/** RFC 9577 section 2.2, of a token whose type is the path. */
async function redeem({ url = '', headers }: http.IncomingMessage): Promise<string> {
  const kind = kinds.get(Number(url.slice(1)));
  if (kind === undefined) throw new Error('type');
  const [credentials] = AuthorizationHeader.parse(kind.entry, headers.authorization ?? '');
  if (credentials === undefined) throw new Error('no token');
  const { token } = credentials;
  const nonce = Buffer.from(token.authInput.nonce).toString('base64url');
  if (!kind.challengeDigest.equals(token.authInput.challengeDigest)) throw new Error('digest');
  if (!(await kind.verify(token))) throw new Error('authenticator');
  if (spent.has(nonce)) throw new Error('spent');
  spent.add(nonce);
  return body;
}

const certificate = { cert: readFileSync(tls.cert), key: readFileSync(tls.key) };
https
  .createServer(certificate, listener(issue, MediaType.PRIVATE_TOKEN_RESPONSE, 422))
  .listen(issuerPort, '127.0.0.1');
http.createServer(listener(redeem, 'text/plain', 401)).listen(port, '127.0.0.1');
