import { createHash } from 'node:crypto';
import { pipeline, Readable, Transform } from 'node:stream';
import type { Fields } from '#shared/http/answer.ts';
import type { Seal } from '#shared/auth/scheme.ts';
import type { AnyRequest } from '#shared/server/message.ts';
import type { ResourceAnswer } from './resource.ts';

/**
 * An answer with what proves its content (RFC 7616 section 3.5): a field, of HEAD as if it were empty, or a
 * trailer when the content is a stream. HTTP/1.0 has no trailers: what is streamed to it is not proved.
 * `field`: the one that the proof is in.
 */
export function sealedAnswer(
  { method, httpVersion }: Pick<AnyRequest, 'method' | 'httpVersion'>,
  answer: ResourceAnswer,
  seal: Seal<Fields> | undefined,
  field: string,
): ResourceAnswer {
  if (seal === undefined) return answer;
  const { body = '' } = answer;
  if (method !== 'HEAD' && body instanceof Readable) {
    return httpVersion === '1.0' ? answer : sealedStream(answer, body, seal, field);
  }
  const content = body instanceof Readable || method === 'HEAD' ? '' : body;
  const proof = seal.proof(createHash(seal.hash).update(content).digest());
  return { ...answer, fields: { ...answer.fields, ...proof } };
}

/** Without its length the content is sent in chunks, which a trailer can follow (RFC 9112 section 7.1.2). */
function sealedStream(
  answer: ResourceAnswer,
  content: Readable,
  seal: Seal<Fields>,
  field: string,
): ResourceAnswer {
  const hash = createHash(seal.hash);
  const hashing = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      done(null, chunk);
    },
  });
  const { 'Content-Length': _length, ...fields } = answer.fields;
  return {
    ...answer,
    fields: { ...fields, Trailer: field },
    // A failure of either ends the other; whoever sends it hears of it from `hashing`.
    body: pipeline(content, hashing, () => {}),
    trailers: () => seal.proof(hash.digest()),
  };
}
