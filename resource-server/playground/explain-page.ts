import type { Clock } from '#shared/base/clock.ts';
import { explain } from '#shared/explain/explain.ts';
import { LONGEST_TEXT } from '#shared/explain/explained.ts';
import { Unreadable } from '#shared/explain/unreadable.ts';
import type { Frame } from '#shared/pages/document.ts';
import { PLAYGROUND_LIST } from '#shared/config/playground.ts';
import { type Endpoint, READ } from '#shared/server/endpoints/endpoint.ts';
import type { Recipient } from '#shared/server/endpoints/auth-request.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import { type ExplainProps, explainPage } from '../pages/views/explain.ts';
import type { Charge } from './charge.ts';
import { readField } from './form.ts';
import { receiveForm } from './page-form.ts';
import { EXPLAIN_PATH } from './spaces.ts';

/** Bytes of the longest form: each byte of its text may be three, and a line end is two (WHATWG URL section 5.1). */
const LONGEST_FORM = 3 * LONGEST_TEXT + 64;

interface ExplainParts {
  readonly origin: string;
  readonly recipient: Recipient;
  readonly charge: Charge;
  readonly clock: Clock;
  readonly frameOf: (request: AnyRequest) => Frame;
}

/** The page that explains what a visitor pastes. It keeps, logs and fetches nothing. */
export function explainEndpoint(parts: ExplainParts): Endpoint {
  const { charge, clock, frameOf } = parts;
  return {
    methods: [...READ, 'POST'],
    async answer(request) {
      const props = { path: EXPLAIN_PATH, index: PLAYGROUND_LIST, text: '' };
      if (request.method !== 'POST') return explainPage(frameOf(request), props);
      const { form, visitor } = await receiveForm(request, parts, LONGEST_FORM);
      const text = readField(form, 'text');
      await charge(visitor);
      return explainPage(frameOf(request), { ...props, text, ...toldOf(text, clock) });
    },
  };
}

/** The explanation of a text, or why there is none. */
function toldOf(text: string, clock: Clock): Pick<ExplainProps, 'explained' | 'problem'> {
  try {
    return { explained: explain(text, clock) };
  } catch (error) {
    if (error instanceof Unreadable) return { problem: error.message };
    throw error;
  }
}
