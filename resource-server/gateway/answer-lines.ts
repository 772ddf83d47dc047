import { plainMembers } from '#shared/http/fields.ts';
import { allow } from '#shared/http/methods.ts';
import type { Lines } from '../forwarding/fields.ts';
import type { PathMap } from './paths.ts';

export interface Returned {
  readonly map: PathMap;
  /** The hosts by which the application may name itself: its own, and that of the space. */
  readonly hosts: ReadonlySet<string>;
  /** The origin of the space, as clients see it. */
  readonly ours: string;
  /** Whether the space covers the whole origin, except for inner spaces. */
  readonly atRoot: boolean;
  /** The methods that the space allows. */
  readonly methods: readonly string[];
  /** The gateway decides which origins may read answers, not the application. */
  readonly ownsCors: boolean;
  /** Whether a cookie with that name belongs to this server. */
  readonly isOurs: (name: string) => boolean;
}

/** Fields about the connection to the application, which the client does not see. */
const OF_CONNECTION = new Set(['alt-svc', 'x-request-id']);

/**
 * Fields that browsers store for the whole origin or host. An application below the root must not set them. Fields of
 * one document or URL, such as `Reporting-Endpoints` or `Content-Security-Policy`, pass.
 */
const OF_ORIGIN = new Set([
  'strict-transport-security', // RFC 6797
  'public-key-pins', // RFC 7469
  'public-key-pins-report-only',
  'expect-ct', // RFC 9163
  'nel', // Network Error Logging, and the endpoints of its reports
  'report-to',
  'clear-site-data',
  'service-worker-allowed', // permits a service worker for paths above its own
  'accept-ch', // RFC 8942
  'accept-ch-lifetime',
  'critical-ch',
  'origin-agent-cluster', // HTML
  'set-login', // FedCM
  'use-as-dictionary', // RFC 9842
]);
const CORS = /^access-control-/;
const URLS = new Set(['location', 'content-location']);

/** The lines of an answer as the client gets them. */
export function clientLines(given: Lines, status: number, returned: Returned): Lines {
  const { methods } = returned;
  const kept: Lines = [];
  let allowed = false;
  for (const [name, value] of given) {
    const lower = name.toLowerCase();
    if (OF_CONNECTION.has(lower) || (returned.ownsCors && CORS.test(lower))) continue;
    if (!returned.atRoot && OF_ORIGIN.has(lower)) continue;
    if (lower === 'allow') {
      if (!allowed) kept.push([name, narrowed(given, methods)]);
      allowed = true;
    } else if (URLS.has(lower)) kept.push([name, ofOurs(value, returned)]);
    else if (lower === 'refresh') kept.push([name, refreshOfOurs(value, returned)]);
    else if (lower === 'set-cookie') {
      if (!returned.isOurs(nameOfCookie(value))) kept.push([name, cookieOfOurs(value, returned)]);
    } else kept.push([name, value]);
  }
  // A 405 must have Allow (RFC 9110 section 15.5.6).
  if (status === 405 && !allowed) kept.push(['Allow', allow(methods)]);
  return kept;
}

/** Returns the methods that both the application and the space allow (RFC 9110 section 10.2.1). */
function narrowed(given: Lines, methods: readonly string[]): string {
  const passed = new Set(methods);
  const theirs = given
    .filter(([name]) => name.toLowerCase() === 'allow')
    .flatMap(([, value]) => plainMembers(value));
  return [...new Set(theirs)].filter((method) => passed.has(method)).join(', ');
}

/** Maps a reference (RFC 9110 section 10.2.2). A reference relative to the target stays unchanged. */
function ofOurs(reference: string, { map, hosts, ours }: Returned): string {
  if (reference.startsWith('//') || /^[a-z][a-z0-9+.-]*:/i.test(reference)) {
    const url = URL.parse(reference, 'http://upstream.invalid');
    if (url === null || !hosts.has(url.host)) return reference;
    const path = map.back(`${url.pathname}${url.search}${url.hash}`);
    return path === undefined ? reference : ours + path;
  }
  const path = reference.startsWith('/') ? map.back(reference) : undefined;
  if (path === undefined) return reference;
  return HOST.test(path) ? ours + path : path;
}

/** Matches references that browsers read as a host, once tabs are removed (URL Standard, relative slash state). */
const HOST = /^\/\t*[/\\]/;

/**
 * The name under which a cookie comes back. A cookie without a name is sent as its value, which may look like a pair.
 */
const nameOfCookie = (cookie: string) => (/^[ \t]*=?([^=;]*)/.exec(cookie)?.[1] ?? '').trim();

/** Seconds, followed by the reference with or without `url=` and a quote (HTML, shared declarative refresh steps). */
const REFRESH = /^([\s\d.]*[;,\s]\s*(?:url\s*=\s*)?["']?)([^"']+)(.*)$/is;

const refreshOfOurs = (value: string, returned: Returned) =>
  value.replace(REFRESH, (_, before: string, reference: string, after: string) =>
    [before, ofOurs(reference, returned), after].join(''),
  );

const PATH = /;[ \t]*path[ \t]*=([^;]*)/i;
const DOMAIN = /;[ \t]*domain[ \t]*=[ \t]*\.?([^;]*)/gi;

/**
 * Maps the Path and Domain of a cookie. The prefix `__Host-` requires the path `/`, and browsers refuse any other (RFC
 * 6265bis section 4.1.3.2). Browsers would refuse the application's own host as Domain, so the cookie becomes one for
 * the space's host only.
 */
function cookieOfOurs(cookie: string, { map, ours, hosts }: Returned): string {
  const own = new URL(ours).hostname;
  const named = cookie.replace(DOMAIN, (whole, domain: string) => {
    const host = domain.trim().toLowerCase();
    return host !== own && isHostOf(host, hosts) ? '' : whole;
  });
  if (map.same || /^[ \t]*__host-/i.test(named)) return named;
  return named.replace(PATH, (whole, path: string) => {
    const theirs = path.trim();
    return theirs.startsWith('/') ? `; Path=${map.cookiePath(theirs)}` : whole;
  });
}

const isHostOf = (host: string, hosts: ReadonlySet<string>) =>
  [...hosts].some((one) => one.replace(/:\d+$/, '') === host);
