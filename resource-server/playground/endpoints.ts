import { PLAYGROUND_LIST } from '#shared/config/playground.ts';
import { isOfOrigin } from '#shared/auth/judge/of-origin.ts';
import { HttpError } from '#shared/http/answer.ts';
import type { Brand, Frame } from '#shared/pages/document.ts';
import { languageOf } from '#shared/pages/language.ts';
import { wholeContent } from '#shared/server/content/content.ts';
import { authRequest, type Recipient } from '#shared/server/endpoints/auth-request.ts';
import { type Endpoint, READ } from '#shared/server/endpoints/endpoint.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import { exchangePage, exchangesPage, type ShownLeg } from '../pages/views/playground.ts';
import { EXCHANGES } from './exchanges.ts';
import type { Exchange } from './exchange.ts';
import { LONGEST_FORM, readMistake } from './form.ts';
import { notesOf } from './notes-of.ts';
import type { Leg, Run } from './run.ts';
import { shownText } from './shown-text.ts';
import { pagePath, spacePath } from './spaces.ts';

export interface PlaygroundPages {
  readonly run: Run;
  readonly apiKey: string;
  readonly brand: Brand;
  readonly recipient: Recipient;
}

/** Returns the pages of the playground at an origin, by path. */
export function playgroundPages(
  origin: string,
  { run, apiKey, brand, recipient }: PlaygroundPages,
): ReadonlyMap<string, Endpoint> {
  const frameOf = ({ headers }: AnyRequest): Frame => ({
    brand,
    language: languageOf(headers['accept-language']),
  });
  const listed = EXCHANGES.map((exchange) => ({ ...exchange, path: pagePath(exchange) }));
  const index: Endpoint = {
    methods: READ,
    answer: (request) => exchangesPage(frameOf(request), listed),
  };
  const pageOf = (exchange: Exchange): Endpoint => {
    const { command, title, about, standard, document, mistakes } = exchange;
    const props = {
      title,
      about,
      standard,
      document,
      mistakes,
      index: PLAYGROUND_LIST,
      path: pagePath(exchange),
      command: command?.(origin + spacePath(exchange), { apiKey }),
    };
    return {
      methods: [...READ, 'POST'],
      async answer(request) {
        const { method = '', url: target = '', headers } = request;
        if (method !== 'POST') return exchangePage(frameOf(request), props);
        const asked = authRequest(request, { method, target, origin }, recipient);
        if (!isOfOrigin(asked)) {
          throw new HttpError(403, 'An exchange is started by a page of this origin alone.');
        }
        const content = await wholeContent(request, LONGEST_FORM, tooLong);
        const mistake = readMistake(headers['content-type'], content, exchange.mistakes);
        const legs = await run(exchange, mistake, asked.peer.address);
        return exchangePage(frameOf(request), {
          ...props,
          mistake,
          legs: legs.map((leg) => shownLeg(leg, exchange)),
        });
      },
    };
  };
  return new Map([
    [PLAYGROUND_LIST, index],
    ...EXCHANGES.map((exchange) => [pagePath(exchange), pageOf(exchange)] as const),
  ]);
}

const tooLong = () => new HttpError(413, `The form has at most ${LONGEST_FORM} bytes.`);

function shownLeg({ title, to, sent, received, remarks }: Leg, exchange: Exchange): ShownLeg {
  const [scheme = ''] = exchange.space.schemes;
  const shown = (octets: Buffer) => ({
    text: shownText(octets),
    notes: notesOf(octets, scheme, exchange),
  });
  return { title, to, remarks, sent: shown(sent), received: shown(received) };
}
