import { formatChallenge, type Challenge } from '#shared/http/auth/challenge.ts';
import { parseCredentials, type Credentials } from '#shared/http/auth/credentials.ts';
import { BadRequest } from '#shared/http/fields.ts';
import { StoreUnavailable } from '#shared/stores/stores.ts';
import { conceal } from './conceal.ts';
import type {
  AuthRequest,
  Awaitable,
  Fields,
  Outcome,
  Proof,
  ProtectionSpace,
  Scheme,
  Verdict,
} from './scheme.ts';

type Answer = Extract<Outcome, { kind: 'answer' }>;
type Refused = Extract<Verdict, { kind: 'refused' }>;

/** Credentials found, and the scheme they are for: none when the space does not have it. */
interface Found {
  readonly scheme: Scheme | undefined;
  readonly credentials: Credentials;
}

/**
 * Whether a request may enter a protection space, as far as its credentials say. Writes nothing: every
 * door (resources, `/verify`, tunnels) turns the outcome into its own answer. Throws only on a defect.
 */
export async function judge(space: ProtectionSpace, request: AuthRequest): Promise<Outcome> {
  const outcome = await decide(space, request).catch((error: unknown) => {
    if (error instanceof BadRequest) return bare(400, error.message);
    if (error instanceof StoreUnavailable) return unavailable(503, error.message, 1);
    throw error;
  });
  return conceal(space, outcome);
}

async function decide(space: ProtectionSpace, request: AuthRequest): Promise<Outcome> {
  const { status } = space.at;
  const found = findCredentials(space, request);
  if (found === 'malformed') return challenged(space, request, 400, 'credentials are malformed');
  const [only, another] = found;
  if (only === undefined) return challenged(space, request, status, 'no credentials');
  if (another !== undefined) {
    return challenged(space, request, 400, 'credentials in more than one place');
  }
  if (only.scheme === undefined) {
    return challenged(space, request, status, 'a scheme that the space does not have');
  }
  return conclude(space, request, only.scheme, only.credentials);
}

/** All there are, before any is looked at: choosing between two would invite confusion. */
function findCredentials(space: ProtectionSpace, request: AuthRequest): Found[] | 'malformed' {
  const found: Found[] = [];
  for (const line of request.lines(space.at.answer)) {
    const credentials = parseCredentials(line);
    if (credentials === undefined) return 'malformed';
    const scheme = space.schemes.find(({ name }) => name.toLowerCase() === credentials.scheme);
    found.push({ scheme, credentials });
  }
  for (const scheme of space.schemes) {
    const credentials = scheme.locate?.(request);
    if (credentials !== undefined) found.push({ scheme, credentials });
  }
  return found;
}

async function conclude(
  space: ProtectionSpace,
  request: AuthRequest,
  scheme: Scheme,
  credentials: Credentials,
): Promise<Outcome> {
  const verdict = await scheme.authenticate(credentials, request);
  if (verdict.kind === 'granted') {
    const fields = verdict.proof ? proofFields(space, scheme, verdict.proof) : {};
    return { kind: 'pass', scheme: scheme.name, principal: verdict.principal, fields };
  }
  const answer = await answerTo(verdict, space, request, scheme);
  return { ...answer, scheme: scheme.name };
}

function answerTo(
  verdict: Exclude<Verdict, { kind: 'granted' }>,
  space: ProtectionSpace,
  request: AuthRequest,
  scheme: Scheme,
): Awaitable<Answer> {
  if (verdict.kind === 'unavailable') {
    return unavailable(verdict.status, verdict.reason, verdict.retryAfter);
  }
  if (verdict.kind === 'refused') return refuse(space, request, scheme, verdict);
  const challenges = [formatChallenge(verdict.challenge)];
  return bare(space.at.status, 'continued', { [space.at.ask]: challenges });
}

async function refuse(
  space: ProtectionSpace,
  request: AuthRequest,
  scheme: Scheme,
  { as = 'unauthenticated', reason, challenges, fields }: Refused,
): Promise<Answer> {
  if (as === 'forbidden') {
    const asked = challenges && { [space.at.ask]: challenges.map(formatChallenge) };
    return bare(403, reason, { ...fields, ...asked });
  }
  const status = as === 'malformed' ? 400 : space.at.status;
  return challenged(space, request, status, reason, {
    ...(fields && { fields }),
    ...(challenges && { instead: { scheme, challenges } }),
  });
}

/** An answer with the challenges of every scheme (RFC 9110 section 11.6.1), one line each. */
async function challenged(
  space: ProtectionSpace,
  request: AuthRequest,
  status: number,
  reason: string,
  more: {
    readonly fields?: Fields;
    /** What one of the schemes says in place of its usual challenges. */
    readonly instead?: { readonly scheme: Scheme; readonly challenges: readonly Challenge[] };
  } = {},
): Promise<Answer> {
  const { fields, instead } = more;
  const asked = await Promise.allSettled(
    space.schemes.map(async (scheme) =>
      scheme === instead?.scheme ? instead.challenges : scheme.challenge(request),
    ),
  );
  const challenges = asked.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
  const silent = asked.flatMap((one, index) =>
    one.status === 'rejected' ? [`${space.schemes[index]?.name}: ${String(one.reason)}`] : [],
  );
  const why = [reason, ...silent].join('; ');
  if (challenges.length === 0) return unavailable(503, `no challenge to give; ${why}`, 1);
  return bare(status, why, { ...fields, [space.at.ask]: challenges.map(formatChallenge) });
}

function proofFields(space: ProtectionSpace, { name }: Scheme, { info, fields }: Proof): Fields {
  if (info === undefined) return fields ?? {};
  // Parameters are written as in the scheme's challenges, but without the scheme (RFC 9110 section 11.6.3).
  const written = formatChallenge({ scheme: name, params: info }).slice(name.length + 1);
  return { ...fields, [space.at.info]: written };
}

function bare(status: number, reason: string, fields: Fields = {}): Answer {
  return { kind: 'answer', status, reason, fields };
}

function unavailable(status: 429 | 503, reason: string, retryAfter: number): Answer {
  return bare(status, reason, { 'Retry-After': String(Math.max(1, Math.ceil(retryAfter))) });
}
