import { type Check, type Step, stepOf } from '#shared/explain/checks.ts';
import { type Credentials, parseCredentials } from '#shared/http/auth/credentials.ts';
import { labelOf } from '#shared/refusals/table.ts';
import {
  type Checks,
  hasCredentials,
  type Recorded,
  type RecordedMessage,
  toldIn,
} from '../recorded.ts';

/** One thing that a server checks of a request, and how the server tells what it found. */
export interface ToldStep extends Pick<Step, 'check' | 'section'> {
  /** True if there is something to check. Absent: there always is. */
  applies?(recorded: Recorded): boolean;
  /** True if the server has refused the request here. Absent: it never does. */
  refuses?(recorded: Recorded): boolean;
  /** Why the server gives another answer without a refusal. Undefined: it does not. */
  passesOver?(recorded: Recorded): string | undefined;
  /** Why it refuses, where its log is not at hand. */
  readonly reason?: string;
}

/** True of an answer with one of these statuses. */
export const answered =
  (...statuses: readonly string[]) =>
  ({ answer }: Recorded): boolean =>
    statuses.includes(answer.words[1] ?? '');

/** True of a request by one of these methods. */
export const by =
  (...methods: readonly string[]) =>
  ({ asked }: Recorded): boolean =>
    methods.includes(asked.words[0] ?? '');

/** Tells what a server has checked, by what it has logged and answered. Undefined: it ended at another check. */
export const told =
  (steps: readonly ToldStep[]): Checks =>
  (recorded) => {
    const { noted, answer } = recorded;
    const applying = steps.filter(({ applies }) => applies?.(recorded) ?? true);
    const end = applying.findIndex(({ refuses }) => refuses?.(recorded));
    if (end === -1 && isRefused(recorded)) return undefined;
    return applying.map((step, at): Check => {
      const { check, section } = step;
      if (at === end) {
        const reason = noted?.reason ?? step.reason ?? toldIn(answer.content) ?? '';
        return { check, section, result: 'wrong', reason };
      }
      if (end !== -1 && at > end) return { check, section, result: 'not reached' };
      const no = step.passesOver?.(recorded);
      return no === undefined
        ? { check, section, result: 'right' }
        : { check, section, result: 'no', reason: no };
    });
  };

/** The code by which the server has refused. Undefined: it has not, or the exchange of the scheme goes on. */
const codeOf = ({ noted }: Recorded): string | undefined =>
  noted?.refusal !== undefined && labelOf(noted.refusal) !== 'continued'
    ? noted.refusal
    : undefined;

const isRefused = (recorded: Recorded): boolean =>
  Number(recorded.answer.words[1]) >= 400 &&
  (recorded.noted?.refusal === undefined || codeOf(recorded) !== undefined);

/** The steps of a scheme: the log names the refusal. */
export const byCode = (steps: readonly Step[]): readonly ToldStep[] =>
  steps.map(({ check, section }, at) => ({
    check,
    section,
    refuses(recorded) {
      const refusal = codeOf(recorded);
      return refusal !== undefined && stepOf(steps, { refusal }) === at;
    },
  }));

/** Returns the credentials of a request. */
export const credentialsOf = ({ lines }: RecordedMessage): Credentials =>
  parseCredentials(lines('authorization')[0] ?? '') ?? { scheme: '', rest: '' };

/** The checks of a scheme. `stepsFor`: its steps for such credentials. */
export const ofScheme =
  (stepsFor: (credentials: Credentials) => readonly Step[]): Checks =>
  (recorded) =>
    hasCredentials(recorded.asked)
      ? told(byCode(stepsFor(credentialsOf(recorded.asked))))(recorded)
      : undefined;

/** The credentials of a space that others share, as one check. */
export const CREDENTIALS_STEP: ToldStep = {
  check: 'The credentials are right.',
  section: 'RFC 7617 section 2',
  refuses: answered('401'),
};
