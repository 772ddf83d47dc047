import { hash } from 'node:crypto';
import { randomId } from '#shared/base/random.ts';
import { PLAYGROUND_SCOPE } from '#shared/config/playground.ts';
import { CODE_FLOW_NOTES } from '#shared/explain/notes/code-flow.ts';
import { OAUTH_NOTES } from '#shared/explain/notes/oauth.ts';
import { codeFlowChecks } from '../checks/code-flow.ts';
import { BEARER_STEPS } from '#shared/explain/schemes/access-token.ts';
import { ofScheme } from '../checks/told.ts';
import { CLIENT, GROUP, locationOf, SIGNS_IN } from '../browser.ts';
import type { Exchange, Performing } from '../exchange.ts';
import type { PlannedRequest } from '../http1-message.ts';
import {
  browserOf,
  decodedJwt,
  formTo,
  memberOf,
  showing,
  useAndRevoke,
} from './at-authorization-server.ts';
import { clientAssertion } from './client-assertion.ts';

/** A second authorization server that the client uses (mix-up attack, RFC 9700 section 4.4). */
const OTHER_ISSUER = 'https://other.example';

/** The data of a request that the client keeps until the answer arrives. */
interface Begun {
  readonly verifier: string;
  readonly state: string;
  readonly parameters: Readonly<Record<string, string>>;
}

/** Begins an authorization request for one browser. */
function begin({ random, url, redirectUri, mistake }: Performing): Begun {
  const verifier = random(32).toString('base64url');
  const state = randomId(random);
  return {
    verifier,
    state,
    parameters: {
      client_id: CLIENT,
      response_type: 'code',
      redirect_uri: mistake === 'callback' ? `${redirectUri}/other` : redirectUri,
      scope: PLAYGROUND_SCOPE,
      resource: url,
      state,
      ...(mistake !== 'challenge' && {
        code_challenge: hash('sha256', verifier, 'base64url'),
        code_challenge_method: 'S256',
      }),
    },
  };
}

/** Pushes a request (RFC 9126 section 2). Resolves to its request_uri. Undefined: the server refused the request. */
async function push(
  performing: Performing,
  title: string,
  { parameters }: Begun,
): Promise<string | undefined> {
  const pushed = formTo('/request', parameters, clientAssertion(performing, {}));
  return memberOf((await performing.send(title, pushed)).content, 'request_uri');
}

/** The address to which the client sends the browser (RFC 9126 section 4). */
const addressFor = (requestUri: string): string =>
  `/auth?${String(new URLSearchParams({ client_id: CLIENT, request_uri: requestUri }))}`;

/**
 * Resolves to the answer that the browser brings to the client (RFC 6749 section 4.1.2). Undefined: the server led the
 * browser nowhere, for example during an outage.
 */
async function authorize(
  performing: Performing,
  requestUri: string,
): Promise<URLSearchParams | undefined> {
  const answer = await browserOf(performing).open(addressFor(requestUri), 'allow', {
    first: 'The browser of the person asks the authorization server',
    onward: [
      'The person has signed in, and the browser continues',
      'The person has allowed the request, and the browser continues',
    ],
  });
  const location = URL.parse(locationOf(answer));
  if (location === null) return undefined;
  performing.remark(
    `${SIGNS_IN}, a person of the playground, has signed in with a password, and has allowed what the client asks for. These pages of the authorization server are not shown.`,
  );
  return location.searchParams;
}

/**
 * Checks an answer before the client uses the code (RFC 9700 sections 4.4 and 4.7). Returns whether the client accepts
 * it.
 */
function isTaken(
  { remark, refuse, issuer, mistake }: Performing,
  answer: URLSearchParams,
  { state }: Begun,
): boolean {
  const expected = mistake === 'issuer' ? OTHER_ISSUER : issuer;
  if (answer.get('state') !== state) {
    refuse(
      'the client has not begun a request with this state in this browser (RFC 6749 section 10.12).',
    );
    return false;
  }
  if (answer.get('iss') !== expected) {
    refuse(
      `the client has asked ${expected}, but iss is another server. The client sends the code to neither (RFC 9207 section 2.4).`,
    );
    return false;
  }
  remark(
    'The browser goes to the address in Location, and so brings code, state and iss to the client. The client compares state with the state of its request, and iss with the server that it has asked. Both are right.',
  );
  return true;
}

/** Redeems a code (RFC 6749 section 4.1.3). */
const redeeming = (performing: Performing, code: string, verifier: string): PlannedRequest => {
  const { mistake, redirectUri, random } = performing;
  const verifiers = {
    verifier: { code_verifier: random(32).toString('base64url') },
    stripped: {},
  };
  const shown =
    mistake === 'verifier' || mistake === 'stripped'
      ? verifiers[mistake]
      : { code_verifier: verifier };
  const members = {
    grant_type: 'authorization_code',
    code,
    redirect_uri: mistake === 'redirect' ? `${redirectUri}/other` : redirectUri,
    ...shown,
  };
  return formTo('/token', members, clientAssertion(performing, {}));
};

/** The authorization code flow (RFC 6749 section 4.1, RFC 7636, RFC 9126, RFC 9207). */
export const authorizationCodeExchange: Exchange = {
  name: 'authorization-code',
  title: 'Authorization code with PKCE',
  longName: 'Proof Key for Code Exchange',
  about:
    'A person gives an application access without giving it a password. The browser brings the application a code, and the application exchanges the code for a token. With PKCE an attacker cannot use a stolen code.',
  standard: 'RFC 6749 section 4.1, RFC 7636, RFC 9126, RFC 9207, RFC 9700',
  document: 'how-to/clients.md',
  ofPair: true,
  space: {
    schemes: ['Bearer'],
    scopes: { safe: [PLAYGROUND_SCOPE], unsafe: [PLAYGROUND_SCOPE] },
    allow: { groups: [GROUP] },
  },
  mistakes: {
    replayed: 'The same code a second time',
    verifier: 'Another code_verifier',
    stripped: 'No code_verifier',
    redirect: 'Another redirect_uri in the request with the code',
    callback: 'A redirect_uri that is not registered',
    injected: 'A code that was stolen from another browser',
    state: 'An answer to the request of another browser',
    issuer: 'An answer of a server that the client has not asked (mix-up)',
    used: 'The same request_uri a second time',
    challenge: 'No code_challenge',
  },
  parameters: OAUTH_NOTES,
  contents: CODE_FLOW_NOTES,
  decoded: decodedJwt,
  checks: ofScheme(() => BEARER_STEPS),
  checksBy: { authorization: codeFlowChecks },
  async perform(performing) {
    const { send, remark, target, mistake } = performing;
    const request = { method: 'GET', target, fields: [] };
    await send('The client asks the resource without a token', request);
    const own = begin(performing);
    const pushed = await push(performing, 'The client pushes its request, and gets a name', own);
    if (pushed === undefined) return;
    remark(
      'The client sends the browser of the person to the authorization server. The address has only client_id and request_uri, so the request cannot be read or changed in the browser.',
    );
    const answer = await answerTo(performing, pushed);
    if (answer === undefined) return;
    if (mistake !== 'injected' && !isTaken(performing, answer, own)) return;
    const { verifier } = mistake === 'injected' ? await ofThief(performing) : own;
    const redeem = redeeming(performing, answer.get('code') ?? '', verifier);
    const got = await send('The client redeems the code, with its key and its verifier', redeem);
    const token = memberOf(got.content, 'access_token');
    if (token === undefined) return;
    if (mistake !== 'replayed') return useAndRevoke(performing, token);
    await send('The client sends the token to the resource', showing(performing, token));
    const again = redeeming(performing, answer.get('code') ?? '', verifier);
    const { status } = await send('An attacker redeems the same code again', again);
    if (status === 400) {
      remark(
        'The server cannot know which of the two is the thief. So it also revokes the token that it has issued for the code (RFC 6749 section 4.1.2).',
      );
    }
  },
};

/** Resolves to the answer with which a browser returns to the client. Undefined: the browser has no answer. */
async function answerTo(
  performing: Performing,
  pushed: string,
): Promise<URLSearchParams | undefined> {
  const { send, mistake } = performing;
  if (mistake === 'state') {
    const other = begin(performing);
    const title = 'The client pushes the request of another person';
    const theirs = await push(performing, title, other);
    // The attacker's answer in the person's browser: the person would use the attacker's account.
    return theirs === undefined ? undefined : authorize(performing, theirs);
  }
  const answer = await authorize(performing, pushed);
  if (answer === undefined || mistake !== 'used') return answer;
  await send('An attacker opens the same address again', {
    to: 'authorization',
    from: 'browser',
    method: 'GET',
    target: addressFor(pushed),
    fields: [],
  });
  return undefined;
}

/**
 * A request of the thief at the same client. The stolen code replaces the code of its answer (RFC 9700 section 4.5).
 */
async function ofThief(performing: Performing): Promise<Begun> {
  const begun = begin(performing);
  await push(performing, 'An attacker who has stolen that code begins another request', begun);
  performing.remark(
    'The attacker puts the stolen code into the answer to this request, so that state and iss are right. But the client has the verifier of this request, not the verifier of the other request.',
  );
  return begun;
}
