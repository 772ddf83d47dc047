import { digestCredentials, type DigestRequest } from '#shared/auth/schemes/digest/client.ts';
import { shellWord } from '#shared/base/shell-word.ts';
import { DIGEST_NOTES } from '#shared/explain/notes/digest.ts';
import type { AuthParams } from '#shared/http/auth/params.ts';
import { DIGEST_STEPS } from '#shared/explain/schemes/digest.ts';
import type { Exchange, Performing } from '../exchange.ts';
import { PASSWORD, PERSON } from '../person.ts';
import { challengeOf, infoOf } from './parameters.ts';
import { ofScheme } from '../checks/told.ts';

/** Sends the request without credentials, and returns the challenge of its answer. */
async function begin(
  { send, target, random }: Performing,
  { method, content }: { readonly method: string; readonly content?: string },
): Promise<{ challenge: AuthParams; cnonce: string }> {
  const planned = { method, target, fields: [], ...(content !== undefined && { content }) };
  const answer = await send('The client asks without credentials, and gets a nonce', planned);
  return { challenge: challengeOf(answer), cnonce: random(12).toString('base64url') };
}

/**
 * Sends a request with the credentials for `proved`, and remarks whether the server has proved that it knows the
 * password.
 */
async function prove(
  performing: Performing,
  title: string,
  challenge: AuthParams,
  proved: DigestRequest,
  sent: { readonly content?: string } = proved,
): Promise<void> {
  const { authorization, rspauth } = digestCredentials(challenge, proved);
  const { content } = sent;
  const answer = await performing.send(title, {
    method: proved.method,
    target: performing.target,
    fields: [['Authorization', authorization]],
    ...(content !== undefined && { content }),
  });
  const info = infoOf(answer, 'Digest');
  if (info['rspauth'] === undefined) return;
  performing.remark(
    info['rspauth'] === rspauth(answer.content)
      ? 'The client computes the same rspauth: the server knows the password.'
      : 'The client computes another rspauth: this is not the server that it knows.',
  );
}

/** The exchange of Digest (RFC 7616), with the qop `auth`. */
export const digestExchange: Exchange = {
  name: 'digest',
  title: 'Digest',
  about:
    'The client proves that it knows the password, and never sends it. Use TLS, too: an eavesdropper can try passwords against the messages. An attacker who steals the hashes of the server can sign in with them in this realm.',
  standard: 'RFC 7616',
  document: 'how-to/schemes/digest.md',
  space: { schemes: ['Digest'] },
  command: (url) =>
    `curl -si --digest -u ${shellWord(`${PERSON.name}:${PASSWORD}`)} ${shellWord(url)}`,
  mistakes: {
    password: 'Another password',
    replayed: 'The same credentials a second time',
    target: 'Credentials for another target',
    downgraded: 'MD5, which the server did not offer',
  },
  parameters: DIGEST_NOTES,
  checks: ofScheme(() => DIGEST_STEPS),
  async perform(performing) {
    const { target, mistake } = performing;
    const { challenge, cnonce } = await begin(performing, { method: 'GET' });
    const request = {
      name: PERSON.name,
      password: mistake === 'password' ? `${PASSWORD}!` : PASSWORD,
      method: 'GET',
      uri: mistake === 'target' ? '/playground/at/basic/' : target,
      qop: 'auth',
      count: 1,
      cnonce,
    } as const;
    const offer = mistake === 'downgraded' ? { ...challenge, algorithm: 'MD5' } : challenge;
    await prove(performing, 'The client repeats the request with a proof', offer, request);
    if (mistake === 'replayed') {
      await prove(performing, 'An attacker sends the same request again', offer, request);
    } else if (mistake === undefined) {
      const again = { ...request, count: 2 };
      await prove(performing, 'The next request needs no new nonce: nc grows by one', offer, again);
    }
  },
};

const CONTENT = 'Pay 10 euros to Alice.';

/** The exchange of Digest (RFC 7616), with the qop `auth-int` and the hash SHA-512-256. */
export const digestAuthIntExchange: Exchange = {
  name: 'digest-auth-int',
  title: 'Digest with auth-int',
  about:
    'The response of the client covers the content, too, and rspauth covers the content of the answer. So an attacker in the middle cannot change the contents. Use TLS as well: most fields are not covered, and an attacker can offer Basic in place of Digest.',
  standard: 'RFC 7616 section 3.4.3',
  document: 'how-to/schemes/digest.md',
  space: { schemes: ['Digest'], digest: { algorithms: ['SHA-512-256'], qop: ['auth-int'] } },
  mistakes: {
    password: 'Another password',
    changed: 'Content that was changed on the way',
    replayed: 'The same credentials a second time',
  },
  parameters: DIGEST_NOTES,
  checks: ofScheme(() => DIGEST_STEPS),
  async perform(performing) {
    const { target, mistake } = performing;
    const { challenge, cnonce } = await begin(performing, { method: 'POST', content: CONTENT });
    const request = {
      name: PERSON.name,
      password: mistake === 'password' ? `${PASSWORD}!` : PASSWORD,
      method: 'POST',
      uri: target,
      qop: 'auth-int',
      count: 1,
      cnonce,
      content: CONTENT,
    } as const;
    const sent = { content: mistake === 'changed' ? CONTENT.replace('10', '99') : CONTENT };
    const title = 'The client repeats the request with a proof of the content';
    await prove(performing, title, challenge, request, sent);
    if (mistake === 'replayed') {
      await prove(performing, 'An attacker sends the same request again', challenge, request);
    }
  },
};
