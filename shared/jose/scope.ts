/** True for a scope-token (RFC 6749 section 3.3): visible ASCII without `"` and `\`. */
export function isScopeToken(value: string): boolean {
  return /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(value);
}

/** Splits a scope string; unlike the RFC's grammar it accepts repeated spaces. */
export function parseScope(scope: string | undefined): ReadonlySet<string> {
  return new Set(scope?.match(/[^ ]+/g));
}
