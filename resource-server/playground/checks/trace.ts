import { traceAnswer } from '../../space/trace.ts';
import { checkMethod } from '#shared/http/method-rules.ts';
import { SERVED } from '#shared/http/methods.ts';
import type { Checks, RecordedMessage } from '../recorded.ts';
import { refusalOfBasic } from './basic.ts';
import { type CheckStep, checksInOrder } from './in-order.ts';
import { incoming } from './incoming.ts';

const STEPS: readonly CheckStep<RecordedMessage>[] = [
  {
    check: 'The server knows the method.',
    section: 'RFC 9110 section 9.1',
    finds({ words: [method = ''] }) {
      checkMethod(method, { known: SERVED });
      return undefined;
    },
  },
  {
    check: 'The credentials are right.',
    section: 'RFC 7617 section 2',
    finds: (asked) =>
      asked.lines('authorization').length > 0 ? refusalOfBasic(asked)?.reason : 'no credentials',
  },
  {
    check: 'The request has no content.',
    section: 'RFC 9110 section 9.3.8',
    async finds(asked) {
      await traceAnswer(incoming(asked));
      return undefined;
    },
  },
];

/** RFC 9110 section 9.3.8. */
export const traceChecks: Checks = ({ asked }) => checksInOrder(STEPS, asked);
