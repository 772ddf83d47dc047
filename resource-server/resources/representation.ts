import type { DocumentRow } from '#shared/stores/documents.ts';

type ResponseFields = Record<string, string>;

/** Validators of a document (RFC 9110 section 8.8). */
export function validators({ etag, modified }: DocumentRow): ResponseFields {
  return { ETag: `"${etag}"`, 'Last-Modified': new Date(modified).toUTCString() };
}

/**
 * What goes with every representation. Content comes from clients: no browser may guess its type or
 * run it with the rights of this origin. Caches ask again each time, because access can be revoked.
 */
export const GUARDED: ResponseFields = {
  'Cache-Control': 'private, no-cache',
  'Content-Security-Policy': 'sandbox',
  'X-Content-Type-Options': 'nosniff',
};
