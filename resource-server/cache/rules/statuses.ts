/** Final status codes whose answers may get a lifetime that nobody told (RFC 9110 section 15.1). */
export const HEURISTIC: ReadonlySet<number> = new Set([
  200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501,
]);

/** The statuses that `must-understand` accepts: this cache keeps all their rules (RFC 9111 section 5.2.2.3). */
export const UNDERSTOOD: ReadonlySet<number> = new Set([
  200, 203, 204, 300, 301, 302, 303, 307, 308, 400, 403, 404, 405, 410, 414, 500, 501, 502, 503,
  504,
]);

/**
 * Never stored: parts (RFC 9111 section 3.3 leaves that to the cache; whole answers serve all ranges), and what was answered because of fields that Vary does not speak of (conditions, ranges,
 * credentials, expectations, lengths) or of how the request came.
 */
export const NEVER: ReadonlySet<number> = new Set([
  206, 304, 401, 407, 408, 411, 412, 413, 415, 416, 417, 421, 425, 426, 428, 429, 431,
]);

/** Answers in place of which a stale one may be used (RFC 5861 section 4). */
export const ERRORS: ReadonlySet<number> = new Set([500, 502, 503, 504]);
