import { randomId } from '#shared/base/random.ts';
import { Failure, type Shell } from '../arguments/command.ts';
import { parseSafeUrl } from '../oauth/http.ts';
import {
  askForGrant,
  type Continuation,
  continueGrant,
  type GnapClient,
  type GrantAnswer,
} from './ask.ts';
import type { Offer } from './challenge.ts';
import { openFinish } from './finish.ts';

/** A token and its grant. A client that acts for itself has no grant to continue. */
export interface Obtained {
  readonly token: string;
  readonly continuation?: Continuation;
}

/** Milliseconds within which a person must decide. */
const PATIENCE = 600_000;

const LATE = 'Nobody decided in time: run the command again.';

const endOf = ({ clock }: Pick<Shell, 'clock'>): number => clock.now() + PATIENCE;

/** Gets a token for the client itself. Throws `Failure`. */
export async function obtainAlone(
  client: GnapClient,
  { endpoint, access }: Offer,
): Promise<Obtained> {
  const answer = await askForGrant(client, endpoint, { access_token: { access: [access] } });
  return { token: tokenOf(answer) };
}

/** Gets a token after a person has entered a code, or opened a link, on any device. Throws `Failure`. */
export async function obtainByCode(
  client: GnapClient,
  { endpoint, access }: Offer,
  shell: Shell,
): Promise<Obtained> {
  const answer = await askForGrant(client, endpoint, {
    access_token: { access: [access] },
    interact: { start: ['redirect', 'user_code_uri'] },
  });
  const { redirect, user_code_uri: code } = answer.interact;
  showLink(redirect, answer, shell);
  if (typeof code === 'object' && code !== null && 'code' in code && 'uri' in code) {
    shell.note(`or enter the code ${String(code.code)} at ${String(code.uri)}`);
  }
  let { continuation } = answer;
  for (const end = endOf(shell); continuation !== undefined && shell.clock.now() < end;) {
    await shell.wait(continuation.wait * 1000);
    const next = await continueGrant(client, continuation);
    if (next.token !== undefined) return given(next);
    if (next.error !== undefined && next.error.code !== 'too_fast') throw refused(next);
    ({ continuation } = next);
  }
  throw new Failure(LATE);
}

/** Gets a token after the person's browser has returned to this machine. Throws `Failure`. */
export async function obtainByRedirect(
  client: GnapClient,
  { endpoint, access }: Offer,
  shell: Shell,
): Promise<Obtained> {
  await using place = await openFinish(`/${randomId(shell.random)}`);
  const clientNonce = randomId(shell.random);
  const answer = await askForGrant(client, endpoint, {
    access_token: { access: [access] },
    interact: {
      start: ['redirect'],
      finish: { method: 'redirect', uri: place.uri, nonce: clientNonce },
    },
  });
  const { redirect, finish } = answer.interact;
  const { continuation } = answer;
  if (typeof finish !== 'string' || continuation === undefined) throw refused(answer);
  const known = { clientNonce, serverNonce: finish, grantEndpoint: endpoint };
  const reference = place.reference(known);
  showLink(redirect, answer, shell);
  for (const end = endOf(shell); shell.clock.now() < end;) {
    const interactRef = await Promise.race([reference, shell.wait(1000)]);
    if (interactRef === undefined) continue;
    return given(await continueGrant(client, continuation, interactRef));
  }
  throw new Failure(LATE);
}

function showLink(redirect: unknown, answer: GrantAnswer, shell: Shell): void {
  if (typeof redirect !== 'string' || parseSafeUrl(redirect) === undefined) throw refused(answer);
  shell.note(`Open ${redirect}`);
}

function given(answer: GrantAnswer): Obtained {
  const { continuation } = answer;
  return { token: tokenOf(answer), ...(continuation && { continuation }) };
}

function tokenOf(answer: GrantAnswer): string {
  if (answer.token === undefined) throw refused(answer);
  return answer.token;
}

const refused = ({ error }: GrantAnswer) =>
  new Failure(
    error === undefined ? 'The server gave no access.' : `The server gave no access: ${error.text}`,
  );
