import { jsonOf, NoAnswer, type Reply } from '#shared/client/send.ts';
import { type Permitted, sendWherePermitted } from '#shared/client/send-where-permitted.ts';
import { said } from '#shared/refusals/operations.ts';
import { type ClientDocument, NoDocument, readDocument, readKeys } from './document.ts';

/** The network by which documents are fetched. */
export type DocumentNetwork = Pick<Permitted, 'destinations' | 'resolve'>;

/** Most octets of a document, as the draft recommends (section 6.6). */
const MOST = 5120;
/** Milliseconds for one exchange; the limit is short because a person waits. */
const PATIENCE = 2500;

/** Least and most seconds for which a document is current, whatever its fields say. */
const SHORTEST = 30;
const LONGEST = 86_400;

export interface Fetched {
  readonly document: ClientDocument;
  /** Seconds until the document should be fetched again (draft section 4.4): from 30 to a day. */
  readonly fresh: number;
}

/**
 * Fetches the document of a client from `url`, and its keys if it names their URL (draft section 4). No redirect is
 * followed. Throws `BadDocument`.
 */
export async function fetchDocument(url: string, network: DocumentNetwork): Promise<Fetched> {
  const reply = await fetched(url, network);
  const document = readDocument(url, jsonOf(reply));
  const { jwksUri, ...rest } = document;
  const fresh = freshOf(reply);
  if (jwksUri === undefined) return { document, fresh };
  return { document: { ...rest, jwks: readKeys(jsonOf(await fetched(jwksUri, network))) }, fresh };
}

async function fetched(url: string, network: DocumentNetwork): Promise<Reply> {
  const message = { method: 'GET', url, fields: { accept: 'application/json' } };
  const reply = await sendWherePermitted(message, {
    ...network,
    milliseconds: PATIENCE,
    most: MOST,
  }).catch((error: unknown) => {
    if (error instanceof NoAnswer) throw new NoDocument(error.words);
    throw error;
  });
  if (reply.status !== 200) {
    const { origin: server } = new URL(url);
    throw new NoDocument(said('document-status', { server, status: reply.status }));
  }
  const type = reply.fields['content-type'] ?? '';
  if (!/^application\/(?:json|[\w.-]+\+json)\s*(?:;|$)/i.test(type)) {
    const words =
      type === '' ? said('document-no-type') : said('document-type', { type: type.slice(0, 80) });
    throw new NoDocument(words);
  }
  return reply;
}

function freshOf({ fields }: Reply): number {
  const seconds = /(?:^|[\s,])max-age=(\d{1,9})/i.exec(fields['cache-control'] ?? '')?.[1];
  return Math.min(LONGEST, Math.max(SHORTEST, Number(seconds ?? 0)));
}
