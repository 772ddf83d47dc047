import { hash } from 'node:crypto';
import { epochSeconds, type Clock } from '#shared/base/clock.ts';
import type { Message } from '#shared/client/send.ts';
import type { BareItem } from '#shared/http/structured-fields.ts';
import type { Identifier } from '#shared/signatures/component.ts';
import { signatureFields } from '#shared/signatures/sign.ts';
import { readSigningJwk } from './jwk-file.ts';

type Params = Map<string, BareItem>;

/**
 * Returns the message with a signature by the private JWK in a file (RFC 9421). It covers the method, the URL, every
 * field of the message, and the digest of its body (RFC 9530). Throws `Failure`.
 */
export async function signedMessage(
  message: Message,
  file: string,
  tag: string | undefined,
  clock: Clock,
): Promise<Message> {
  const { alg, kid, key } = await readSigningJwk(file);
  const { method, url, body } = message;
  const fields: Readonly<Record<string, string>> = {
    ...message.fields,
    ...(body !== undefined && { 'content-digest': digestOf(body) }),
  };
  const covered = ['@method', '@target-uri', ...Object.keys(fields)];
  const identifiers = covered.map((value): Identifier => ({
    type: 'string',
    value,
    params: new Map(),
  }));
  const params: Params = new Map([
    ['created', { type: 'integer', value: epochSeconds(clock) }],
    ['keyid', { type: 'string', value: kid }],
  ]);
  if (tag !== undefined) params.set('tag', { type: 'string', value: tag });
  const { pathname, search } = new URL(url);
  const request = {
    method,
    targetUri: url,
    requestTarget: pathname + search,
    lines: (name: string) => [fields[name] ?? []].flat(),
  };
  const signature = signatureFields(request, { label: 'sig1', identifiers, params, alg, key });
  return { ...message, fields: { ...fields, ...signature } };
}

const digestOf = (body: string | Buffer) => `sha-256=:${hash('sha256', body, 'base64')}:`;
