import { randomId } from '#shared/base/random.ts';
import { PLAYGROUND_SCOPE } from '#shared/config/playground.ts';
import { DEVICE_FLOW_NOTES } from '#shared/explain/notes/device-flow.ts';
import { OAUTH_NOTES } from '#shared/explain/notes/oauth.ts';
import { DEVICE_CODE, deviceFlowChecks } from '../checks/device-flow.ts';
import { BEARER_STEPS } from '#shared/explain/schemes/access-token.ts';
import { ofScheme } from '../checks/told.ts';
import { GROUP, SIGNS_IN } from '../browser.ts';
import type { Exchange, Performing } from '../exchange.ts';
import type { PlannedRequest } from '../http1-message.ts';
import { byCommandLine } from '../in-shell.ts';
import {
  browserOf,
  decodedJwt,
  formTo,
  memberOf,
  revoke,
  showing,
  useAndRevoke,
} from './at-authorization-server.ts';
import { clientAssertion } from './client-assertion.ts';

/** Asks, as the device, whether the person has decided (RFC 8628 section 3.4). */
const polling = (performing: Performing, deviceCode: string): PlannedRequest =>
  formTo(
    '/token',
    { grant_type: DEVICE_CODE, device_code: deviceCode },
    clientAssertion(performing, {}),
  );

/** Performs the decision of the person on another device (RFC 8628 section 3.3). */
async function decide(performing: Performing, userCode: string): Promise<void> {
  const { remark, mistake } = performing;
  const isDenied = mistake === 'denied';
  await browserOf(performing).open(
    `/device?${String(new URLSearchParams({ user_code: userCode }))}`,
    isDenied ? 'deny' : 'allow',
    { decided: `The person ${isDenied ? 'denies' : 'allows'} the request on another device` },
  );
  remark(
    `${SIGNS_IN}, a person of the playground, has signed in on a phone, has typed ${userCode}, and has pressed a button. Of these pages, only the last request is shown.`,
  );
}

/** The exchange of the device flow (RFC 8628). */
export const deviceCodeExchange: Exchange = {
  name: 'device-code',
  title: 'Device code',
  about:
    'A device without a keyboard, such as a television or a command line, shows a short code, which the person types on a phone. The device asks again and again until the person has decided, and needs no browser.',
  standard: 'RFC 8628',
  document: 'how-to/clients.md',
  command: byCommandLine('login'),
  ofPair: true,
  space: {
    schemes: ['Bearer'],
    scopes: { safe: [PLAYGROUND_SCOPE], unsafe: [PLAYGROUND_SCOPE] },
    allow: { groups: [GROUP] },
  },
  mistakes: {
    fast: 'The client asks again at once',
    denied: 'The person denies the request',
    guessed: 'A device code that an attacker has guessed',
    twice: 'The same device code a second time',
  },
  parameters: OAUTH_NOTES,
  contents: DEVICE_FLOW_NOTES,
  decoded: decodedJwt,
  checks: ofScheme(() => BEARER_STEPS),
  checksBy: { authorization: deviceFlowChecks },
  async perform(performing) {
    const { send, target, url, mistake, random } = performing;
    await send('The client, a device without a browser, asks the resource without a token', {
      method: 'GET',
      target,
      fields: [],
    });
    const asking = formTo(
      '/device/auth',
      { scope: PLAYGROUND_SCOPE, resource: url },
      clientAssertion(performing, {}),
    );
    const { content } = await send('The client asks for a pair of codes', asking);
    const deviceCode = memberOf(content, 'device_code');
    const userCode = memberOf(content, 'user_code');
    if (deviceCode === undefined || userCode === undefined) return;
    const ask = (title: string, code = deviceCode) => send(title, polling(performing, code));
    if (mistake === 'guessed') {
      await decide(performing, userCode);
      await ask('An attacker asks with another device code', randomId(random) + randomId(random));
      return;
    }
    await ask('The client asks whether the person has decided');
    if (mistake === 'fast') {
      await ask('The client asks again at once');
      return;
    }
    performing.remark(
      'A real device now waits for the seconds of interval before it asks again. Here the person has decided already, so the device need not wait.',
    );
    await decide(performing, userCode);
    const got = await ask('The client asks again');
    const token = memberOf(got.content, 'access_token');
    if (token === undefined) return;
    if (mistake !== 'twice') return useAndRevoke(performing, token);
    await send('The client sends the token to the resource', showing(performing, token));
    await ask('An attacker asks again with the same device code');
    await revoke(performing, token);
  },
};
