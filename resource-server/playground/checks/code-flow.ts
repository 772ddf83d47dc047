import { hash } from 'node:crypto';
import { CLIENT } from '../browser.ts';
import { type Checks, isTaken, membersOf, type Recorded } from '../recorded.ts';
import { formChecks, formOf, judged, type JudgedStep, type KnownForm } from './token-endpoint.ts';

const queryOf = (url: string) => new URLSearchParams(url.split('?')[1]);
const queryAsked = ({ words }: Recorded['asked']) => queryOf(words[1] ?? '');

/** The code with which an answer sends the browser to the client. */
const codeIn = ({ lines }: Recorded['answer']): string | null =>
  queryOf([...lines('location'), ...lines('refresh')].join()).get('code');

/** The form that was pushed for a request_uri (RFC 9126 section 2.2). */
function pushedFor(uri: string | null, { earlier }: Recorded): URLSearchParams | undefined {
  const leg = earlier.find(({ answer }) => membersOf(answer.content)['request_uri'] === uri);
  return leg && formOf(leg.asked);
}

/** The form of the request for which a code was given. Undefined: there is no such code. */
function requestOf(known: KnownForm): URLSearchParams | undefined {
  const code = known.form.get('code');
  const at = known.earlier.findIndex(({ answer }) => codeIn(answer) === code);
  // The browser has asked for it before it was on the pages of the server.
  const leg = known.earlier.slice(0, at + 1).findLast(({ asked }) => isBeginning(asked));
  return leg && pushedFor(queryAsked(leg.asked).get('request_uri'), known);
}

/** Whether it is the first request of the browser: later it has the name of an interaction. */
const isBeginning = ({ words }: Recorded['asked']): boolean =>
  words[1]?.startsWith('/auth?') === true;

const isPushing = ({ form }: KnownForm) => form.has('response_type');
const isRedeeming = ({ form }: KnownForm) => form.get('grant_type') === 'authorization_code';

/** The checks of the pushed request, and of the request with the code. */
const FORM_STEPS: readonly JudgedStep<KnownForm>[] = [
  {
    check: 'redirect_uri is registered, letter for letter.',
    section: 'RFC 9700 section 2.1',
    applies: isPushing,
    finds: ({ form, redirectUri }) =>
      form.get('redirect_uri') === redirectUri ? undefined : 'it is not registered',
  },
  {
    check: 'There is a code_challenge, by S256.',
    section: 'RFC 7636 section 4.4.1',
    applies: isPushing,
    finds: ({ form }) =>
      form.has('code_challenge') && form.get('code_challenge_method') === 'S256'
        ? undefined
        : 'there is none',
  },
  {
    check: 'The code is known, and was issued to this client.',
    section: 'RFC 6749 section 4.1.3',
    applies: isRedeeming,
    finds: (known) => (requestOf(known) ? undefined : 'there is no such code'),
  },
  {
    check: 'code_verifier fits the code_challenge of the request.',
    section: 'RFC 7636 section 4.6',
    applies: isRedeeming,
    finds(known) {
      const verifier = known.form.get('code_verifier');
      if (verifier === null) return 'code_verifier is missing';
      return hash('sha256', verifier, 'base64url') === requestOf(known)?.get('code_challenge')
        ? undefined
        : 'code_verifier does not fit';
    },
  },
  {
    check: 'redirect_uri is that of the request.',
    section: 'RFC 6749 section 4.1.3',
    applies: isRedeeming,
    finds: (known) =>
      known.form.get('redirect_uri') === requestOf(known)?.get('redirect_uri')
        ? undefined
        : 'the request had another redirect_uri',
  },
  {
    check: 'The code was not used before.',
    section: 'RFC 6749 section 4.1.2',
    applies: isRedeeming,
    finds: ({ form, earlier }) =>
      earlier.some(
        ({ asked, answer }) => isTaken(answer) && formOf(asked).get('code') === form.get('code'),
      )
        ? 'the code was used before'
        : undefined,
  },
];

/** The checks of the browser's request, which has nothing but the name of the pushed request. */
const BROWSER_STEPS: readonly JudgedStep<Recorded>[] = [
  {
    check: 'client_id is a client that is registered.',
    section: 'RFC 6749 section 4.1.1',
    finds: ({ asked }) =>
      queryAsked(asked).get('client_id') === CLIENT
        ? undefined
        : 'nobody has registered this client',
  },
  {
    check: 'request_uri is known, and of this client.',
    section: 'RFC 9126 section 4',
    finds: (recorded) =>
      pushedFor(queryAsked(recorded.asked).get('request_uri'), recorded)
        ? undefined
        : 'there is no such request',
  },
  {
    check: 'It was not used before.',
    section: 'RFC 9126 section 4',
    finds: ({ asked, earlier }) =>
      earlier.some((leg) => leg.asked.words[1] === asked.words[1] && isTaken(leg.answer))
        ? 'it was used before'
        : undefined,
  },
];

/** The checks of its later requests. */
const ONWARD_STEPS: readonly JudgedStep<Recorded>[] = [
  {
    check: 'This browser has begun the request.',
    section: 'RFC 9700 section 2.1',
    finds: () => undefined,
  },
  {
    check: 'The person has signed in.',
    section: 'RFC 6749 section 4.1.1',
    finds: () => undefined,
  },
  {
    check: 'The person has allowed it.',
    section: 'RFC 6749 section 4.1.1',
    applies: ({ answer }) => codeIn(answer) !== null,
    finds: () => undefined,
  },
];

const ofForm = formChecks(FORM_STEPS);

/** Requests to the authorization server in the code flow: of the client, and of the browser. */
export const codeFlowChecks: Checks = (recorded) =>
  recorded.asked.words[0] === 'GET'
    ? judged(isBeginning(recorded.asked) ? BROWSER_STEPS : ONWARD_STEPS, recorded)
    : ofForm(recorded);
