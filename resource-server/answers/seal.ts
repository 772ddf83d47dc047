import { createHash } from 'node:crypto';
import type { Fields } from '#shared/http/answer.ts';
import type { Seal } from '#shared/auth/scheme.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import { inPieces, type Pieces, type ResourceAnswer } from './pieces.ts';

/**
 * Adds the proof of its content to an answer (RFC 7616 section 3.5).
 * The proof is a field (for HEAD the proof of empty content), or a trailer if the content is in pieces. HTTP/1.0 has no
 * trailers, so pieces over HTTP/1.0 get no proof. `field`: the name of the field or trailer.
 */
export function sealedAnswer(
  { method, httpVersion }: Pick<AnyRequest, 'method' | 'httpVersion'>,
  answer: ResourceAnswer,
  seal: Seal<Fields> | undefined,
  field: string,
): ResourceAnswer {
  if (seal === undefined) return answer;
  const { body = '' } = answer;
  if (method !== 'HEAD' && inPieces(body)) {
    return httpVersion === '1.0' ? answer : sealedPieces(answer, body, seal, field);
  }
  const content = inPieces(body) || method === 'HEAD' ? '' : body;
  const proof = seal.proof(createHash(seal.hash).update(content).digest());
  return { ...answer, fields: { ...answer.fields, ...proof } };
}

/** Removes the length, so that the content is sent in chunks, and a trailer can follow (RFC 9112 section 7.1.2). */
function sealedPieces(
  answer: ResourceAnswer,
  content: Pieces,
  seal: Seal<Fields>,
  field: string,
): ResourceAnswer {
  const hash = createHash(seal.hash);
  const { 'Content-Length': _length, ...fields } = answer.fields;
  return {
    ...answer,
    fields: { ...fields, Trailer: field },
    body: {
      async *each(most) {
        for await (const piece of content.each(most)) {
          hash.update(piece);
          yield piece;
        }
      },
      [Symbol.asyncDispose]: () => content[Symbol.asyncDispose](),
    },
    trailers: () => seal.proof(hash.digest()),
  };
}
