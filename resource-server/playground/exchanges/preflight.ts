import { answered, told } from '../checks/told.ts';
import type { Exchange } from '../exchange.ts';
import { shellWord } from '#shared/base/shell-word.ts';
import { onLines } from '../in-shell.ts';

const PAGE = 'https://app.example';

/** The exchange of a preflight (Fetch section 3.3, RFC 9110 section 9.3.7). */
export const preflightExchange: Exchange = {
  name: 'preflight',
  title: 'OPTIONS, as a CORS preflight',
  longName: 'Cross-Origin Resource Sharing',
  about:
    'A browser asks before a page of another origin sends a request that a form could not send. The server names the origins, methods and fields that it allows, and needs no credentials for this answer.',
  standard: 'Fetch section 3.3, RFC 9110 section 9.3.7',
  document: 'how-to/single-page-application.md',
  command: (url) =>
    onLines(
      `curl -si -X OPTIONS -H ${shellWord(`Origin: ${PAGE}`)}`,
      "-H 'Access-Control-Request-Method: POST'",
      "-H 'Access-Control-Request-Headers: authorization'",
      shellWord(url),
    ),
  space: { schemes: ['Bearer'], cors: { origins: [PAGE] } },
  mistakes: { origin: 'A page of an origin that is not listed' },
  checks: told([
    {
      check:
        'The request is a preflight: OPTIONS with an origin and a method. It needs no credentials.',
      section: 'Fetch section 3.3.2',
      refuses: answered('401'),
    },
    {
      check:
        'The configuration of the space lists the origin. Otherwise the answer names no origin, and the browser refuses.',
      section: 'Fetch section 3.3.3',
      refuses: ({ answer }) => answer.lines('access-control-allow-origin').length === 0,
    },
  ]),
  async perform({ send, remark, target, mistake }) {
    const origin = mistake === 'origin' ? 'https://other.example' : PAGE;
    const answer = await send('The browser asks whether the page may send POST with a token', {
      from: 'browser',
      method: 'OPTIONS',
      target,
      fields: [
        ['Origin', origin],
        ['Access-Control-Request-Method', 'POST'],
        ['Access-Control-Request-Headers', 'authorization'],
      ],
    });
    const allowed = answer.fields.some(
      ([name, value]) =>
        name.toLowerCase() === 'access-control-allow-origin' && [origin, '*'].includes(value),
    );
    remark(
      allowed
        ? 'The browser sends the request of the page.'
        : 'The browser does not send the request of the page.',
    );
  },
};
