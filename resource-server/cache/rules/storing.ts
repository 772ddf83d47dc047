import { lines as valuesIn } from '#shared/http/fields.ts';
import { METHODS } from '#shared/http/methods.ts';
import type { Lines } from '../../forwarding/fields.ts';
import type { Nominated } from './stored.ts';
import { controlOf } from './control.ts';
import { demandsOf } from './demands.ts';
import type { Directives } from './directives.ts';
import { ageOf, type Policy, policyOf } from './freshness.ts';
import { keptLines } from './kept-lines.ts';
import { onlyOf } from './lines.ts';
import { isOfTarget } from './references.ts';
import type { Asked, Given, Rules, Times } from './rules.ts';
import { HEURISTIC, NEVER, UNDERSTOOD } from './statuses.ts';
import { validatorsOf } from './validators.ts';
import { nominate, varyOf } from './vary.ts';

export type Storing =
  | { readonly store: true; readonly lines: Lines; readonly vary: readonly Nominated[] }
  /** `reason`: a token for Cache-Status. */
  | { readonly store: false; readonly reason: string };

interface Case extends Directives {
  readonly targeted: boolean;
  readonly asked: Asked;
  readonly given: Given;
  readonly rules: Rules;
  readonly policy: Policy;
  readonly times: Times;
}

/**
 * THE rule of when the cache must not store an answer (RFC 9111 section 3). The first reason that applies is reported.
 */
const REFUSALS: readonly (readonly [reason: string, (of: Case) => boolean])[] = [
  ['method', (of) => !isOfMethod(of)],
  ['request-no-store', ({ asked }) => demandsOf(asked.rawHeaders)?.flags.has('no-store') === true],
  ['status', ({ given: { status } }) => status < 200 || NEVER.has(status)],
  [
    'must-understand',
    ({ flags, given }) => flags.has('must-understand') && !UNDERSTOOD.has(given.status),
  ],
  ['no-store', ({ flags }) => flags.has('no-store') && !flags.has('must-understand')],
  ['private', ({ flags, rules }) => rules.shared && flags.has('private')],
  ['authorized', (of) => of.rules.shared && isAuthorized(of.asked) && !isForOthers(of)],
  ['no-lifetime', (of) => !mayLive(of)],
  [
    'set-cookie',
    (of) => of.rules.shared && hasCookies(of.given) && (isAuthorized(of.asked) || !isForAll(of)),
  ],
  ['useless', (of) => !isUseful(of)],
];

/** Decides whether an answer is stored (RFC 9111 section 3), and which of its lines, before its content arrives. */
export function mayStore(asked: Asked, given: Given, times: Times, rules: Rules): Storing {
  const control = controlOf(given.lines, rules.targeted);
  const policy = policyOf({ ...given, ...times }, rules);
  const of = {
    ...control.directives,
    targeted: control.targeted,
    asked,
    given,
    rules,
    policy,
    times,
  };
  const refused = REFUSALS.find(([, refuses]) => refuses(of));
  if (refused !== undefined) return { store: false, reason: refused[0] };
  const vary = nominate(varyOf(given.lines), asked.rawHeaders, rules.made);
  if (typeof vary === 'string') return { store: false, reason: 'vary' };
  return { store: true, lines: keptLines(given.lines, times, rules), vary };
}

/** GET and QUERY qualify; POST and PATCH do under the conditions of RFC 9110 section 9.3.3 and RFC 5789 section 2. */
function isOfMethod({ asked, given, policy, rules }: Case): boolean {
  const cacheable = METHODS.get(asked.method)?.cacheable ?? false;
  if (cacheable !== 'conditional') return cacheable && asked.method !== 'HEAD';
  const location = onlyOf(given.lines, 'content-location');
  return (
    given.status === 200 &&
    policy.explicit &&
    location !== undefined &&
    isOfTarget(location, asked.target, rules.origin)
  );
}

function isAuthorized({ guarded, rawHeaders }: Asked): boolean {
  return guarded || valuesIn(rawHeaders, 'authorization').length > 0;
}

/** Whether an answer to an authenticated request may be shared (RFC 9111 section 3.5). */
function isForOthers({ flags, seconds }: Case): boolean {
  return flags.has('public') || flags.has('must-revalidate') || seconds.has('s-maxage');
}

/**
 * Whether the answer may have a lifetime (RFC 9111 section 3, last requirement). An error needs an explicit lifetime
 * or, with heuristics, a Last-Modified date.
 */
function mayLive({ flags, rules, given, policy }: Case): boolean {
  if (policy.explicit) return given.status < 400 || policy.lifetime > 0;
  if (given.status >= 400) return HEURISTIC.has(given.status) && policy.lifetime > 0;
  return (
    flags.has('public') || (flags.has('private') && !rules.shared) || HEURISTIC.has(given.status)
  );
}

function hasCookies({ lines }: Given): boolean {
  return lines.some(([name]) => /^set-cookie2?$/i.test(name));
}

/**
 * Decides whether an answer with Set-Cookie may be shared.
 * RFC 9111 section 7.3 permits storing it. This cache also requires that the application allows sharing explicitly,
 * with a lifetime: an application that gives only a lifetime may mean a single browser. An answer that is only
 * validated would bring one person's cookies to another. If the client was authenticated, even `public` does not
 * suffice: the cookie may be that person's session. Nginx and Varnish store no such answer either.
 */
function isForAll({ flags, seconds, targeted, policy }: Case): boolean {
  if (!policy.explicit || policy.lifetime === 0 || policy.noCache) return false;
  return targeted || flags.has('public') || seconds.has('s-maxage');
}

/** Whether a later request can use the answer, directly or after a validation. */
function isUseful({ policy, given: { lines }, times }: Case): boolean {
  const isFresh = policy.lifetime > ageOf(policy, times.received) && !policy.noCache;
  const { etag, modified } = validatorsOf(lines);
  const isUsedStale = !policy.neverStale && policy.whileRevalidating + policy.ifError > 0;
  return isFresh || isUsedStale || (etag ?? modified) !== undefined;
}
