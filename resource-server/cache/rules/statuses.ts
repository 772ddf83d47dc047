/** Final status codes whose answers may get a heuristic lifetime (RFC 9110 section 15.1). */
export const HEURISTIC: ReadonlySet<number> = new Set([
  200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501,
]);

/** The statuses that `must-understand` accepts, since this cache follows all their rules (RFC 9111 section 5.2.2.3). */
export const UNDERSTOOD: ReadonlySet<number> = new Set([
  200, 203, 204, 300, 301, 302, 303, 307, 308, 400, 403, 404, 405, 410, 414, 500, 501, 502, 503,
  504,
]);

/**
 * Statuses that are never stored.
 * 206, because whole answers serve all ranges and RFC 9111 section 3.3 makes storing parts optional. The others depend
 * on fields that Vary does not name (conditions, ranges, credentials, expectations, lengths), or on the connection of
 * the request.
 */
export const NEVER: ReadonlySet<number> = new Set([
  206, 304, 401, 407, 408, 411, 412, 413, 415, 416, 417, 421, 425, 426, 428, 429, 431,
]);

/** Statuses that a stale answer may replace (RFC 5861 section 4). */
export const ERRORS: ReadonlySet<number> = new Set([500, 502, 503, 504]);
