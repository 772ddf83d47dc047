import type { Server } from './cpu.ts';
import type { HttpRequest } from './requests.ts';
import type { Fields } from './site.ts';

const KIB = 1024;
const MIB = 1024 ** 2;
/** Parallel requests that put the documents. */
const AT_ONCE = 20;

interface Document {
  readonly path: string;
  readonly type: string;
  readonly content: string;
}

const text = (path: string, bytes: number): Document => ({
  path: `/documents/${path}`,
  type: 'text/plain',
  content: 'x'.repeat(bytes),
});
const several = (count: number, path: string, bytes: number) =>
  Array.from({ length: count }, (_, at) => text(`${path}${at}`, bytes));

export const SMALL = text('small', KIB);
export const LARGE = text('large', 8 * MIB);
/** At least as many paths as connections, so that no PUT waits for another. */
export const SMALL_PUTS = several(64, 'put/small', KIB);
/** Large documents, 128 MiB together. */
export const ARCHIVE = several(16, 'put/archive', 8 * MIB);
/** A collection of 1,000 members. */
export const COLLECTION = '/documents/thousand/';
export const MEMBERS = several(1000, 'thousand/', 100);
export function putting({ path, type, content }: Document, credentials: Fields): HttpRequest {
  return { method: 'PUT', path, fields: { ...credentials, 'Content-Type': type }, body: content };
}

async function send({ url }: Server, { method, path, fields, body }: HttpRequest): Promise<void> {
  const init = { method, headers: fields, ...(body !== undefined && { body }) };
  const answer = await fetch(url + path, init);
  await answer.arrayBuffer();
  if (answer.status !== 201) throw new Error(`${method} ${path} was answered ${answer.status}`);
}

/** Puts documents into an empty server. Rejects if the server refuses one. */
export async function put(
  server: Server,
  credentials: Fields,
  documents: readonly Document[],
): Promise<void> {
  const left = [...documents];
  while (left.length > 0) {
    const some = left.splice(0, AT_ONCE);
    await Promise.all(some.map((document) => send(server, putting(document, credentials))));
  }
}

/** Puts everything except the archive. */
export async function furnish(server: Server, credentials: Fields): Promise<void> {
  for (const path of [COLLECTION, '/documents/put/']) {
    await send(server, { method: 'MKCOL', path, fields: credentials });
  }
  const all = [SMALL, LARGE, ...SMALL_PUTS, ...MEMBERS];
  await put(server, credentials, all);
}
