import { andThen, type Awaitable, recover } from '#shared/base/awaitable.ts';
import { formatChallenge, formatInfo, parseChallenges } from '#shared/http/auth/challenge.ts';
import { parseCredentials, type Credentials } from '#shared/http/auth/credentials.ts';
import { BadRequest } from '#shared/http/fields.ts';
import { HttpError } from '#shared/http/answer.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { type AnswerOutcome, answerTo, bare, challenged, unavailable } from './answers.ts';
import { conceal, showsConcealed } from '../conceal.ts';
import { isCrossSite } from './cross-site.ts';
import { subjectOf } from '../person.ts';
import type { Fields } from '#shared/http/answer.ts';
import { refuse } from '#shared/refusals/spaces.ts';
import type {
  AuthRequest,
  Outcome,
  Principal,
  Proof,
  ProtectionSpace,
  Scheme,
  Verdict,
} from '../scheme.ts';

type Pass = Extract<Outcome, { kind: 'pass' }>;

/** Credentials of a request, and their scheme; `scheme` is absent if the space does not have the scheme. */
interface Found {
  readonly scheme: Scheme | undefined;
  readonly credentials: Credentials;
}

/**
 * Decides from its credentials whether a request may enter a protection space. It sends no answer: each caller
 * (resources, `/verify`, tunnels) turns the outcome into an answer. It returns a promise only if a scheme has to
 * wait, and throws or rejects only on a defect.
 */
export function judge(space: ProtectionSpace, request: AuthRequest): Awaitable<Outcome> {
  const outcome = recover<Pass | AnswerOutcome>(
    () => andThen(decide(space, request), (decided) => lookedUp(space, decided)),
    undecided,
  );
  return andThen(outcome, (decided) => conceal(space, quietOfConcealed(space, request, decided)));
}

/** Makes a space with Concealed answer credentials for Concealed like a space without it (RFC 9729 section 6.4). */
function quietOfConcealed(
  { at }: ProtectionSpace,
  request: AuthRequest,
  outcome: Pass | AnswerOutcome,
): Pass | AnswerOutcome {
  if (outcome.kind === 'pass' || !request.lines(at.answer).some(showsConcealed)) return outcome;
  return { ...outcome, untold: true };
}

function undecided(error: unknown): AnswerOutcome {
  if (error instanceof BadRequest) return bare(400, refuse('bad-request', { why: error.message }));
  if (error instanceof HttpError) {
    return bare(error.status, refuse('http-error', { why: error.message }), error.fields);
  }
  if (error instanceof StoreUnavailable) {
    return unavailable(503, refuse('unavailable', { why: error.message }), 1);
  }
  throw error;
}

/** Decides on a request. It first refuses everything that it can refuse without looking at a secret. */
function decide(space: ProtectionSpace, request: AuthRequest): Awaitable<Pass | AnswerOutcome> {
  const found = findCredentials(space, request);
  const { answer, status } = space.at;
  if (found === 'several') {
    return challenged(space, request, 400, refuse('several-lines', { field: answer }));
  }
  // Malformed credentials never pass as absent.
  if (found === 'malformed') {
    return challenged(space, request, status, refuse('not-credentials', { field: answer }));
  }
  const [only, another] = counting(found);
  if (another !== undefined) {
    return challenged(space, request, 400, refuse('several-places'));
  }
  if (only?.scheme?.ambient && isCrossSite(space, request)) {
    const detail = `${only.scheme.name} is not taken from a page of another origin.`;
    const refused = bare(403, refuse('cross-site'), {}, detail);
    return { ...refused, scheme: only.scheme.name };
  }
  const { application } = space;
  const shown = application?.locate?.(request);
  if (shown !== undefined && only?.scheme?.alone) {
    return challenged(space, request, 400, refuse('beside-alone'));
  }
  return application !== undefined && shown !== undefined
    ? besideApplication(space, request, application, shown, only)
    : authenticate(space, request, only);
}

/**
 * Finds all credentials of a request before a scheme checks any, since a request with two would be ambiguous. A real
 * connection refuses two Authorization fields earlier (shared/server/client-errors/ambiguity.ts). A token in the
 * query is a credential, too (shared/auth/schemes/bearer/bearer.ts).
 */
function findCredentials(
  space: ProtectionSpace,
  request: AuthRequest,
): Found[] | 'malformed' | 'several' {
  const found: Found[] = [];
  const [line, another] = request.lines(space.at.answer);
  if (another !== undefined) return 'several';
  const parsed = line === undefined ? undefined : parseCredentials(line);
  if (line !== undefined && !space.schemes.some((scheme) => scheme.ignores?.(line, parsed))) {
    const credentials = parsed ?? noToken(line);
    if (credentials === undefined) return isSeveral(line) ? 'several' : 'malformed';
    const scheme = space.schemes.find(
      ({ name, yields }) => !yields && name.toLowerCase() === credentials.scheme,
    );
    found.push({ scheme, credentials });
  }
  for (const scheme of space.schemes) {
    const credentials = scheme.locate?.(request);
    if (credentials !== undefined) found.push({ scheme, credentials });
  }
  return found;
}

/**
 * Returns the credentials that are judged. A cookie never blocks a request that carries explicit credentials for the
 * space. If only the cookie is for the space, one line of Authorization for another scheme is left to the application
 * behind the space.
 */
function counting(found: readonly Found[]): readonly Found[] {
  const unasked = found.filter(({ scheme }) => scheme?.yields);
  if (unasked.length === 0) return found;
  const shown = found.filter(({ scheme }) => !scheme?.yields);
  const foreign = shown.length === 1 && shown[0]?.scheme === undefined;
  return shown.length === 0 || foreign ? unasked : shown;
}

/** Adds the directory's data about the person, if the space asks the directory. */
function lookedUp(
  space: ProtectionSpace,
  outcome: Pass | AnswerOutcome,
): Awaitable<Pass | AnswerOutcome> {
  if (outcome.kind !== 'pass' || space.about === undefined) return outcome;
  const { principal, scheme } = outcome;
  if (principal.kind !== 'person' || principal.about) return outcome;
  return andThen(space.about(subjectOf(principal) ?? ''), (about) =>
    about
      ? { ...outcome, principal: { ...principal, about } }
      : { ...bare(403, refuse('not-in-directory')), scheme },
  );
}

/**
 * True if a line may be several lines that a recipient joined (RFC 9110 section 5.3): such a line parses as a list of
 * challenges.
 */
const isSeveral = (line: string) => (parseChallenges(line)?.length ?? 0) > 1;

/** Matches a JWT that is in the place of the scheme; the scheme is in lower case. */
const JWT = /^ey[^.]*\.[^.]+\./;

/** Schemes whose credentials are one token. */
const ONE_TOKEN = /^(basic|bearer) +([^,;]*)$/i;

/**
 * Reads a line whose token is not a token68, so that its scheme refuses the line with 401 (RFC 6750 section 3.1).
 * Returns undefined, for malformed, if the line may be a list of two sets of credentials.
 */
function noToken(line: string): Credentials | undefined {
  const [, scheme, rest] = ONE_TOKEN.exec(line) ?? [];
  return scheme === undefined || rest === undefined
    ? undefined
    : { scheme: scheme.toLowerCase(), rest };
}

/**
 * Judges the application first, since each application has a limit. Its key alone admits no request, but a wrong key
 * refuses the request.
 */
async function besideApplication(
  space: ProtectionSpace,
  request: AuthRequest,
  application: Scheme,
  credentials: Credentials,
  found: Found | undefined,
): Promise<Pass | AnswerOutcome> {
  const verdict = await application.authenticate(credentials, request);
  if (verdict.kind !== 'granted') {
    const answer = await answerTo(verdict, space, request, application);
    return { ...answer, scheme: application.name };
  }
  const outcome = await authenticate(space, request, found);
  const fields = { ...verdict.proof?.fields, ...outcome.fields };
  if (outcome.kind === 'answer') return { ...outcome, fields };
  const grounds = [outcome.grounds ?? [], verdict.grounds ?? []].flat();
  return {
    ...outcome,
    fields,
    application: verdict.principal,
    ...(grounds.length > 0 && { grounds }),
  };
}

function authenticate(
  space: ProtectionSpace,
  request: AuthRequest,
  found: Found | undefined,
): Awaitable<Pass | AnswerOutcome> {
  const { status } = space.at;
  if (found === undefined) return challenged(space, request, status, refuse('no-credentials'));
  const { scheme, credentials } = found;
  if (scheme === undefined) {
    const code = JWT.test(credentials.scheme) ? 'no-scheme' : 'other-scheme';
    return challenged(space, request, status, refuse(code));
  }
  return andThen(scheme.authenticate(credentials, request), (verdict) => {
    if (verdict.kind === 'granted') return pass(space, scheme, verdict);
    const answer = answerTo(verdict, space, request, scheme);
    return andThen(answer, (refused) => ({ ...refused, scheme: scheme.name }));
  });
}

function pass(
  space: ProtectionSpace,
  scheme: Scheme,
  verdict: Extract<Verdict, { kind: 'granted' }>,
): Pass {
  const { principal, grounds, proof, seal } = verdict;
  return {
    kind: 'pass',
    scheme: scheme.name,
    principal: withScopes(space, principal),
    ...(grounds && { grounds: [grounds] }),
    fields: proof ? proofFields(space, scheme, proof) : {},
    ...(seal && {
      seal: {
        hash: seal.hash,
        proof: (digest) => proofFields(space, scheme, seal.proof(digest)),
      },
    }),
  };
}

/** Gives the scopes of the space, or none, to a principal whose scheme has no scopes. */
function withScopes(space: ProtectionSpace, principal: Principal): Principal {
  if (principal.scopes !== undefined) return principal;
  return { ...principal, scopes: space.granted?.(principal) ?? new Set() };
}

function proofFields({ at }: ProtectionSpace, { name }: Scheme, proof: Proof): Fields {
  const { info, ask, fields } = proof;
  return {
    ...fields,
    // Authentication-Info has parameters like a challenge, but no scheme (RFC 9110 section 11.6.3).
    ...(info && {
      [at.info]: formatInfo(name, info),
    }),
    ...(ask && { [at.ask]: [formatChallenge(ask)] }),
  };
}
