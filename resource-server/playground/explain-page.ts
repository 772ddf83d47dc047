import type { Clock } from '#shared/base/clock.ts';
import { explain } from '#shared/explain/explain.ts';
import { LONGEST_TEXT } from '#shared/explain/explained.ts';
import { Unreadable } from '#shared/explain/unreadable.ts';
import type { Frame } from '#shared/pages/document.ts';
import { PLAYGROUND_LIST } from '#shared/config/playground.ts';
import type { Recipient } from '#shared/server/endpoints/auth-request.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import type { PageRoute } from '../answers/page-routes.ts';
import { type ExplainProps, explainPage } from '../pages/views/explain.ts';
import type { Charge } from './charge.ts';
import { readField } from './form.ts';
import { receiveForm } from './page-form.ts';
import { EXPLAIN_PATH } from './spaces.ts';

/**
 * Bytes of the longest form. Each byte of the text may become three, and a line end two bytes (WHATWG URL section 5.1).
 */
const LONGEST_FORM = 3 * LONGEST_TEXT + 64;

interface ExplainParts {
  readonly recipient: Recipient;
  readonly charge: Charge;
  readonly clock: Clock;
  readonly frameOf: (request: AnyRequest) => Frame;
}

/** The page that explains a text that a visitor pastes. It stores, logs and fetches nothing. */
export function explainRoutes(parts: ExplainParts): readonly PageRoute[] {
  const { recipient, charge, clock, frameOf } = parts;
  const props = { path: EXPLAIN_PATH, index: PLAYGROUND_LIST, text: '' };
  return [
    ['GET', EXPLAIN_PATH, ({ req }) => explainPage(frameOf(req), props)],
    [
      'POST',
      EXPLAIN_PATH,
      async ({ req, state: { origin } }) => {
        const { form, visitor } = await receiveForm(req, { origin, recipient }, LONGEST_FORM);
        const text = readField(form, 'text');
        await charge(visitor);
        return explainPage(frameOf(req), { ...props, text, ...toldOf(text, clock) });
      },
    ],
  ];
}

/** Returns the explanation of a text, or why there is none. */
function toldOf(text: string, clock: Clock): Pick<ExplainProps, 'explained' | 'problem'> {
  try {
    return { explained: explain(text, clock) };
  } catch (error) {
    if (error instanceof Unreadable) return { problem: error.message };
    throw error;
  }
}
