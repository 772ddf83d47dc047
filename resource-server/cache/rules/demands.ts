import { has, lines } from '#shared/http/fields.ts';
import { type Directives, parseDirectives } from './directives.ts';

const NO_CACHE = parseDirectives(['no-cache']);

/** Returns the directives of a request for caches (RFC 9111 section 5.2.1), or undefined if there is none. */
export function demandsOf(rawHeaders: readonly string[]): Directives | undefined {
  const control = lines(rawHeaders, 'cache-control');
  if (control.length > 0) return parseDirectives(control);
  // Clients that do not know Cache-Control send Pragma (RFC 9111 section 5.4).
  const pragma = lines(rawHeaders, 'pragma');
  return pragma.length > 0 && parseDirectives(pragma).flags.has('no-cache') ? NO_CACHE : undefined;
}

const ORIGINS = ['if-match', 'if-unmodified-since'];

/** Conditions that only the application evaluates, so that the cache does not answer (RFC 9111 section 4.3.2). */
export function isForOrigin(rawHeaders: readonly string[]): boolean {
  return ORIGINS.some((name) => has(rawHeaders, name));
}
