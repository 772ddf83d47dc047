import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { pipeline, Readable, Transform } from 'node:stream';
import type { Fields } from '#shared/http/answer.ts';
import type { Seal } from '#shared/auth/scheme.ts';
import type { Answer } from '#shared/http/answer.ts';
import type { ResourceContext } from './resource.ts';

/** The fields that prove content which is sent at once; '' where none is sent. */
function sealed(seal: Seal<Fields>, content: string | Buffer): Fields {
  return seal.proof(createHash(seal.hash).update(content).digest());
}

/** A whole answer with the fields that prove it. */
export function sealedAnswer(
  { method }: Pick<IncomingMessage, 'method'>,
  answer: Answer,
  seal: Seal<Fields> | undefined,
): Answer {
  if (seal === undefined) return answer;
  const proof = sealed(seal, method === 'HEAD' ? '' : (answer.body ?? ''));
  return { ...answer, fields: { ...answer.fields, ...proof } };
}

/**
 * Proves the content of an answer that is about to be sent (RFC 7616 section 3.5): by the fields that it
 * returns, or by a trailer when the content is a stream. HTTP/1.0 has no trailers: what is streamed to
 * it is not proved.
 */
export function sealAnswer(context: ResourceContext, seal: Seal<Fields>): Fields {
  const { body, method, req: request } = context;
  if (method === 'HEAD' || body === null || body === undefined) return sealed(seal, '');
  if (typeof body === 'string' || Buffer.isBuffer(body)) return sealed(seal, body);
  if (!(body instanceof Readable)) throw new TypeError('content of a kind that cannot be sealed');
  if (request.httpVersion !== '1.0') sealStream(context, body, seal);
  return {};
}

/** Without its length the content is sent in chunks, which a trailer can follow (RFC 9112 section 7.1.2). */
function sealStream(context: ResourceContext, content: Readable, seal: Seal<Fields>): void {
  const { res: response, state } = context;
  const hash = createHash(seal.hash);
  const hashing = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      done(null, chunk);
    },
    flush(done) {
      response.addTrailers(pairs(seal.proof(hash.digest())));
      done();
    },
  });
  // A failure of either ends the other; Koa hears of it from `hashing`.
  context.body = pipeline(content, hashing, () => {});
  context.remove('Content-Length');
  context.set('Trailer', state.space.at.info);
}

const pairs = (fields: Fields) =>
  Object.entries(fields).flatMap(([name, value]) =>
    [value].flat().map((one): [string, string] => [name, one]),
  );
