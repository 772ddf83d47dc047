import type { DocumentTarget } from './document-targets.ts';
import type { HttpContender } from './http-load.ts';
import { COLLECTION, MEMBERS, putting, type SMALL, type SMALL_PUTS } from './library.ts';
import { type HttpRequest, inTurn } from './requests.ts';
import type { Fields } from './site.ts';

/** One request of a task, and its answer. */
export interface Task {
  requests(credentials: Fields): readonly HttpRequest[];
  readonly answer: HttpContender['answer'];
}

export function performing(
  { name, server, right, wrong }: DocumentTarget,
  task: Task,
): HttpContender {
  const [forged] = task.requests(wrong);
  if (forged === undefined) throw new Error('a task without a request');
  const load = inTurn(task.requests(right));
  return { name, server, load, answer: task.answer, forged: () => forged };
}

/** Reads these documents in rotation. All have the same content. */
export function reading(...documents: readonly (typeof SMALL)[]): Task {
  return {
    requests: (fields) => documents.map(({ path }) => ({ method: 'GET', path, fields })),
    answer: { status: 200, body: (found) => found === documents[0]?.content },
  };
}

export function replacing(documents: typeof SMALL_PUTS): Task {
  return {
    requests: (fields) => documents.map((document) => putting(document, fields)),
    answer: { status: 204 },
  };
}

/** Reads one document nine times, then replaces another once. */
export function among(read: typeof SMALL, replaced: typeof SMALL_PUTS): Task {
  const { requests, answer } = reading(...Array.from({ length: 9 }, () => read));
  return {
    requests: (fields) =>
      replaced.flatMap((document) => [...requests(fields), putting(document, fields)]),
    answer,
  };
}

const NAMED =
  '<D:resourcetype/><D:getcontentlength/><D:getlastmodified/><D:getetag/><D:creationdate/>';

/** Lists a collection by named properties, with the properties of `others` in rotation. */
const listing = (others: readonly string[]): Task => ({
  requests: (fields) =>
    others.map((other) => ({
      method: 'PROPFIND',
      path: COLLECTION,
      fields: { ...fields, Depth: '1', 'Content-Type': 'application/xml' },
      body: `<?xml version="1.0" encoding="utf-8"?>
<D:propfind xmlns:D="DAV:"><D:prop>${NAMED}${other}</D:prop></D:propfind>`,
    })),
  answer: {
    status: 207,
    body: (found) => found.match(/<D:response[ >]/g)?.length === MEMBERS.length + 1,
  },
});

export const LISTING = listing(['']);

/** More questions than a server caches answers for. */
export const NEW_LISTINGS = listing(
  Array.from({ length: 100 }, (_, n) => `<x${n} xmlns="urn:example"/>`),
);
