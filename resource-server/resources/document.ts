import type { Readable } from 'node:stream';
import type { Change, DocumentRow, Expected } from '#shared/stores/documents.ts';
import { notFound } from '#shared/server/answer.ts';
import { pathWithin, urlOf } from './path.ts';
import { evaluate, isConditional, preconditionFailed } from './preconditions.ts';
import { GUARDED, validators } from './representation.ts';
import type { Handler, Methods, ResourceContext } from './resource.ts';
import type { Shelf } from './shelf.ts';
import { checkUpload, receive } from './upload.ts';

/** Bytes up to which a document is read at once: a stream of its own costs more than the reading. */
const SHORT = 65_536;

/** The methods of a document (RFC 9110 section 9.3). */
export function documentMethods(shelf: Shelf): Methods {
  const { key, rows, content, clock } = shelf;

  const read: Handler = async (context) => {
    const path = pathWithin(context.state);
    const row = await rows.get(key, path);
    if (row === undefined) throw notFound();
    const verdict = evaluate(context.req, row, clock.now());
    if (verdict === 412) throw preconditionFailed();
    if (verdict === 304) {
      context.status = 304;
      context.set({ ...validators(row), ...GUARDED });
      return;
    }
    if (context.method === 'HEAD') {
      context.status = 200;
    } else {
      const body = await contentOf(row);
      if (body === undefined) return readAgain(context, row);
      context.body = body;
    }
    context.set({ ...validators(row), ...GUARDED });
    context.set({ 'Content-Type': row.type, 'Content-Length': `${row.length}` });
  };

  async function contentOf({ file, length }: DocumentRow): Promise<Buffer | Readable | undefined> {
    if (length <= SHORT) return content.read(file);
    return (await content.open(file))?.createReadStream();
  }

  /** The file went between the row and the opening: the document was replaced or removed. */
  async function readAgain(context: ResourceContext, row: DocumentRow): Promise<void> {
    const current = await rows.get(key, row.path);
    if (current?.file === row.file) throw new Error(`content file ${row.file} is missing`);
    return read(context);
  }

  /** One compare-and-set of the row is the commit; whoever loses it is judged again by the new state. */
  async function change(
    context: ResourceContext,
    path: string,
    attempt: (expected: Expected) => Promise<Change>,
  ): Promise<Change> {
    if (!isConditional(context.req)) return attempt('any');
    let current = await rows.get(key, path);
    for (;;) {
      const verdict = evaluate(context.req, current, clock.now());
      if (verdict !== 'proceed') return { kind: 'conflict', current };
      const done = await attempt(current === undefined ? 'absent' : { etag: current.etag });
      if (done.kind === 'changed') return done;
      current = done.current;
    }
  }

  const put: Handler = async (context) => {
    const path = pathWithin(context.state);
    const type = checkUpload(context.req, shelf.maxBytes);
    if (isConditional(context.req)) {
      const early = evaluate(context.req, await rows.get(key, path), clock.now());
      if (early !== 'proceed') throw preconditionFailed();
    }
    const { row, done } = await receive(shelf, context.req, { path, type }, (fresh) =>
      change(context, path, (expected) => rows.put(key, fresh, expected)),
    );
    if (done.kind === 'conflict') throw preconditionFailed();
    if (done.before === undefined) {
      context.body = null;
      context.status = 201;
      context.set('Location', urlOf(context.state.space, path));
    } else {
      await content.remove(done.before.file);
      context.status = 204;
    }
    context.set(validators(row));
  };

  const remove: Handler = async (context) => {
    const path = pathWithin(context.state);
    if ((await rows.get(key, path)) === undefined) throw notFound();
    const done = await change(context, path, (expected) => rows.remove(key, path, expected));
    const before = done.kind === 'changed' ? done.before : done.current;
    if (before === undefined) throw notFound();
    if (done.kind === 'conflict') throw preconditionFailed();
    await content.remove(before.file);
    context.status = 204;
  };

  return new Map([
    ['GET', read],
    ['HEAD', read],
    ['PUT', put],
    ['DELETE', remove],
  ]);
}
