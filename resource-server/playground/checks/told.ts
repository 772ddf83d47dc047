import { type Check, type Step, stepOf } from '#shared/explain/checks.ts';
import { type Credentials, parseCredentials } from '#shared/http/auth/credentials.ts';
import {
  type Checks,
  hasCredentials,
  isContinued,
  type Recorded,
  type RecordedMessage,
  toldIn,
} from '../recorded.ts';

/** A check of a request, and how to decide by the recorded exchange what the server found. */
export interface ToldStep extends Pick<Step, 'check' | 'section'> {
  /** True if there is something to check. Absent: always. */
  applies?(recorded: Recorded): boolean;
  /** True if the server refused the request at this check. Absent: never. */
  refuses?(recorded: Recorded): boolean;
  /** Why the check failed without a refusal. Undefined: it succeeded. */
  passesOver?(recorded: Recorded): string | undefined;
  /** The reason of the refusal, if the server's log is not available. */
  readonly reason?: string;
}

/** True if the answer has one of these statuses. */
export const answered =
  (...statuses: readonly string[]) =>
  ({ answer }: Recorded): boolean =>
    statuses.includes(answer.words[1] ?? '');

/** True if the request has one of these methods. */
export const by =
  (...methods: readonly string[]) =>
  ({ asked }: Recorded): boolean =>
    methods.includes(asked.words[0] ?? '');

/**
 * Returns the checks of a request with their results, by the log line and the answer. Undefined: the server refused at
 * a check that is not in the list.
 */
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

/**
 * The code of the server's refusal. Undefined: the server did not refuse, or asked the client to continue the scheme.
 */
const codeOf = ({ noted }: Recorded): string | undefined =>
  isContinued(noted) ? undefined : noted?.refusal;

const isRefused = (recorded: Recorded): boolean =>
  Number(recorded.answer.words[1]) >= 400 &&
  (recorded.noted?.refusal === undefined || codeOf(recorded) !== undefined);

/** Makes the checks of a scheme, whose refusals are in the log by code. */
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

/** The checks of a scheme. `stepsFor`: the steps for these credentials. */
export const ofScheme =
  (stepsFor: (credentials: Credentials) => readonly Step[]): Checks =>
  (recorded) =>
    hasCredentials(recorded.asked)
      ? told(byCode(stepsFor(credentialsOf(recorded.asked))))(recorded)
      : undefined;

/** The check of credentials as a single step, for exchanges that are about something else. */
export const CREDENTIALS_STEP: ToldStep = {
  check: 'The credentials are right.',
  section: 'RFC 7617 section 2',
  refuses: answered('401'),
};
