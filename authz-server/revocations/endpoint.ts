import { type Answer, HttpError, UNSTORED } from '#shared/http/answer.ts';
import { BadRequest } from '#shared/http/fields.ts';
import { formatPage } from '#shared/guard/revocation-page.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import { noteRoutine } from '#shared/server/message/request-log.ts';
import type { Work } from '../resources/protection.ts';
import { type Cursor, readCursor } from './cursor.ts';
import { Followed, type FollowedParts } from './followed.ts';

/** Matches seconds with up to six decimal places. */
const SECONDS = /^\d{1,3}(?:\.\d{1,6})?$/;

/**
 * `GET /revocations?after=…&wait=…`: tells a client which revocations there are, and for how long it may trust that it
 * knows them all. Only for machines: if a person allowed the access, it would not end with the person.
 */
export function following(parts: FollowedParts): Work {
  const followed = new Followed(parts);
  const { hold } = parts.config.revocations;

  return async (request, { clientId: client, principal }): Promise<Answer> => {
    if (principal.kind !== 'application') {
      throw new HttpError(403, 'Ask for the token with the grant client_credentials.');
    }
    const { after, wait } = askedOf(request.url ?? '');
    noteRoutine(request, `revocations ${client}`);
    using gone = leaving(request);
    const milliseconds = Math.min(wait, hold) * 1000;
    const page = await followed.tell({ client, after, wait: milliseconds, gone: gone.signal });
    return {
      status: 200,
      fields: { ...UNSTORED, 'Content-Type': 'application/json' },
      body: formatPage(page),
    };
  };
}

function askedOf(url: string): { readonly after: Cursor | undefined; readonly wait: number } {
  const query = new URLSearchParams(url.replace(/^[^?]*/, ''));
  const one = (name: string) => {
    const values = query.getAll(name);
    if (values.length > 1) throw new BadRequest(`The parameter ${name} is there more than once.`);
    return values[0];
  };
  const [cursor, wait = '0'] = [one('after'), one('wait')];
  if (!SECONDS.test(wait)) throw new BadRequest('The parameter wait is a number of seconds.');
  const after = cursor === undefined ? undefined : readCursor(cursor);
  if (cursor !== undefined && after === undefined) {
    throw new BadRequest('The parameter after is the member cursor of an earlier answer.');
  }
  return { after, wait: Number(wait) };
}

/** Returns a signal that aborts when the request's connection ends. */
function leaving({ socket }: AnyRequest): Disposable & { readonly signal: AbortSignal } {
  const controller = new AbortController();
  const leave = () => controller.abort();
  socket.once('close', leave);
  if (socket.destroyed) leave();
  return { signal: controller.signal, [Symbol.dispose]: () => void socket.off('close', leave) };
}
