import {
  keyForChallenge,
  privateTokenCredentials,
  readSiteChallenges,
  requestToken,
  type SiteChallenge,
} from '#shared/auth/schemes/private-token/client.ts';
import { REQUEST_SCOPE } from '#shared/config/token-spaces.ts';
import { decodeBase64url } from '#shared/private-token/base64url.ts';
import {
  DIRECTORY_PATH,
  DIRECTORY_TYPE,
  parseDirectory,
  REQUEST_TYPE,
  RESPONSE_TYPE,
} from '#shared/private-token/issuer-directory.ts';
import { originOfServer, serverNameOf } from '#shared/private-token/server-name.ts';
import { parseChallenge } from '#shared/private-token/token-challenge.ts';
import { parseToken } from '#shared/private-token/token.ts';
import { PRIVATE_TOKEN_NOTES } from '#shared/explain/notes/private-token.ts';
import { SCOPE_STEP, TOKEN_STEPS } from '#shared/explain/schemes/access-token.ts';
import { PRIVATE_TOKEN_STEPS } from '#shared/explain/schemes/private-token.ts';
import { hasCredentials } from '../recorded.ts';
import { answered, byCode, ofScheme, told, type ToldStep } from '../checks/told.ts';
import { OAUTH_NOTES } from '#shared/explain/notes/oauth.ts';
import type { Exchange, Performing } from '../exchange.ts';
import { fieldOf } from '../http1-message.ts';
import { answeredOtherwise } from './parameters.ts';
import { jwtInClear } from './tokens.ts';

/** Gets a token from the issuer that the challenge names. Throws if the issuer's answer is wrong. */
async function obtain(
  { send, remark, issue, clock, random }: Performing,
  { issuer, digest, ...challenge }: SiteChallenge,
): Promise<Buffer> {
  const origin = originOfServer(issuer);
  const listed = await send('The client asks the issuer for its keys', {
    to: 'issuer',
    method: 'GET',
    target: DIRECTORY_PATH,
    fields: [['Accept', DIRECTORY_TYPE]],
  });
  if (listed.status !== 200) throw answeredOtherwise(listed);
  const directory = parseDirectory(JSON.parse(listed.content), origin + DIRECTORY_PATH);
  const key = keyForChallenge(challenge, directory, clock);
  if (key === undefined) throw new Error('the own issuer has no such key');
  remark(
    'The client checks that the issuer publishes the key that the site has named. A key for only one visitor would identify this visitor (RFC 9576 section 6.2).',
  );
  const accessToken = await issue({ audience: directory.requestUrl, scope: REQUEST_SCOPE });
  const { content, finalize } = await requestToken(key, digest, random);
  const signed = await send('The client asks the issuer to sign a token that it has blinded', {
    to: 'issuer',
    method: 'POST',
    target: new URL(directory.requestUrl).pathname,
    fields: [
      ['Accept', RESPONSE_TYPE],
      ['Authorization', `Bearer ${accessToken}`],
      ['Content-Type', REQUEST_TYPE],
    ],
    content,
  });
  if (signed.status !== 200) throw answeredOtherwise(signed);
  const token = finalize(signed.octets);
  if (token === undefined) throw new Error('the own issuer has not signed the token');
  remark(
    'The content of the request is the type of the token (0002), the last octet of the id of the key, and the blinded token. The content of the answer is the signature, which is blinded, too (RFC 9578 sections 6.1 and 6.2).',
  );
  remark(
    'The client makes a token of a random nonce and the hash of the challenge, and blinds it by mixing a random value into it. The issuer signs the blinded token. Now the client removes the random value, and has the signature of a token that the issuer has never seen.',
  );
  remark(
    'The issuer learns that the account (playground) has asked for one token, and when. It does not learn for which site, and it cannot recognize the token later.',
  );
  return token;
}

/** Returns a copy of a token with one octet changed. A negative `at` counts from the end. */
function changed(token: Buffer, at: number): Buffer {
  const copy = Buffer.from(token);
  const index = at < 0 ? copy.length + at : at;
  copy[index] = (copy[index] ?? 0) ^ 1;
  return copy;
}

/** Positions in a token: its type, a nonce of 32 octets, the digest of the challenge, and the id of the key. */
const IN_DIGEST = 34;
const IN_KEY_ID = 66;

const SHOWN: Readonly<Record<string, (token: Buffer) => Buffer>> = {
  challenge: (token) => changed(token, IN_DIGEST),
  key: (token) => changed(token, IN_KEY_ID),
  forged: (token) => changed(token, -1),
  cut: (token) => token.subarray(0, -1),
};

function challengeInClear(value: string): string | undefined {
  const challenge = parseChallenge(decodeBase64url(value) ?? Buffer.alloc(0));
  if (challenge === undefined) return undefined;
  const { type, issuer, origins, context } = challenge;
  const names = origins.join(', ');
  return `token_type ${type}, issuer_name ${issuer}, redemption_context of ${context.length} octets, origin_info ${names}`;
}

function tokenInClear(value: string): string | undefined {
  const token = parseToken(decodeBase64url(value) ?? Buffer.alloc(0));
  if (token === undefined) return undefined;
  const { type, nonce, challengeDigest, keyId, authenticator } = token;
  const hex = (octets: Buffer) => octets.toString('hex');
  return `in hexadecimal: token_type ${type}, nonce ${hex(nonce)}, challenge_digest ${hex(challengeDigest)}, token_key_id ${hex(keyId)}, authenticator of ${authenticator.length} octets`;
}

const IN_CLEAR: Readonly<Record<string, (value: string) => string | undefined>> = {
  challenge: challengeInClear,
  token: tokenInClear,
  token68: jwtInClear,
};

/** The checks of a token request. The issuer signs a blinded token, so it cannot check the token itself. */
const TOKEN_REQUEST_STEPS: readonly ToldStep[] = [
  ...byCode([...TOKEN_STEPS, SCOPE_STEP]),
  {
    check: 'The content is a token request, of this media type.',
    section: 'RFC 9578 section 6.1',
    refuses: answered('413', '415'),
  },
  {
    check: 'The token request is for a current key of the issuer.',
    section: 'RFC 9578 section 6.2',
    refuses: answered('422'),
  },
];

/** The exchange of PrivateToken (RFC 9577, RFC 9578 section 6). */
export const privateTokenExchange: Exchange = {
  name: 'private-token',
  title: 'PrivateToken',
  about:
    'An issuer that knows the client signs a token without seeing it, and a site accepts this token once. Neither of them can tell which account is behind which visit, as long as many clients use the same issuer.',
  standard: 'RFC 9577, RFC 9578',
  document: 'how-to/private-token.md',
  space: { schemes: ['PrivateToken'], privateToken: { types: ['blind-rsa-2048'] } },
  mistakes: {
    replayed: 'The same token a second time',
    challenge: 'A token for another site',
    key: 'A token of a key that is not the issuer’s',
    forged: 'A token that the issuer has not signed',
    cut: 'A token that is cut off',
  },
  parameters: { ...OAUTH_NOTES, ...PRIVATE_TOKEN_NOTES },
  checks: ofScheme(() => PRIVATE_TOKEN_STEPS),
  checksBy: {
    issuer: (recorded) =>
      hasCredentials(recorded.asked) ? told(TOKEN_REQUEST_STEPS)(recorded) : undefined,
  },
  decoded: (name, value) => (Object.hasOwn(IN_CLEAR, name) ? IN_CLEAR[name]?.(value) : undefined),
  async perform(performing) {
    const { send, remark, target, url, mistake = '', clock } = performing;
    const request = { method: 'GET', target, fields: [] };
    const asked = await send(
      'The client asks the site, and learns which issuer it trusts',
      request,
    );
    const site = serverNameOf(url);
    remark(
      'In the playground the issuer is the playground itself, by the name of issuer.example. A real site names an issuer that it trusts to know its clients.',
    );
    const [challenge] = readSiteChallenges(fieldOf(asked, 'WWW-Authenticate'), site, clock) ?? [];
    if (challenge === undefined || typeof challenge === 'string') {
      throw answeredOtherwise(asked);
    }
    const right = await obtain(performing, challenge);
    const token = SHOWN[mistake]?.(right) ?? right;
    const last = {
      ...request,
      fields: [['Authorization', privateTokenCredentials(token)]] as const,
    };
    const answer = await send('The client sends the token to the site', last);
    if (answer.status === 200) {
      remark(
        'The site learns that issuer.example has signed a token of this client. It does not learn who the client is, nor whether two tokens come from the same client.',
      );
    }
    if (mistake === 'replayed') await send('An attacker sends the same request again', last);
    if (mistake !== '') {
      remark(
        'The site does not say whether a token was used before, was never signed, or is for another site.',
      );
    }
  },
};
