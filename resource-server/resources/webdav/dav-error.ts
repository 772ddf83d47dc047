import { HttpError } from '#shared/http/answer.ts';
import { dav, davDocument, davHref } from './xml-writer.ts';

export const XML_TYPE = 'application/xml; charset="utf-8"';

/** A precondition or postcondition code of RFC 4918 section 16 or RFC 4331 section 6. */
export type ConditionCode =
  | 'cannot-modify-protected-property'
  | 'lock-token-matches-request-uri'
  | 'lock-token-submitted'
  | 'no-conflicting-lock'
  | 'no-external-entities'
  | 'propfind-finite-depth'
  | 'quota-not-exceeded'
  | 'sufficient-disk-space';

/** Markup of the code, with the resources that caused it. */
export function conditionMarkup(condition: ConditionCode, hrefs: readonly string[] = []): string {
  return dav(condition, ...hrefs.map(davHref));
}

/** An error with its code as DAV:error (RFC 4918 section 16); `detail` goes to the log. */
export function davError(
  status: number,
  condition: ConditionCode,
  detail: string,
  hrefs: readonly string[] = [],
): HttpError {
  const body = davDocument('error', conditionMarkup(condition, hrefs));
  return new HttpError(status, detail, {}, { type: XML_TYPE, body });
}
