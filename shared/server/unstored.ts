import type { Answer } from '#shared/http/answer.ts';

/**
 * An error that no cache keeps: what there is, and for whom, can change at any time. Without this a 404,
 * 405, 414 or 501 may be kept (RFC 9110 section 15.1).
 */
export function unstored({ fields, ...answer }: Answer): Answer {
  return { ...answer, fields: { 'Cache-Control': 'no-store', ...fields } };
}
