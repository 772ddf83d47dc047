import { filled, type Given, type Values } from './words.ts';

/** The values of the label `reason` in metrics. */
export const LABELS = [
  'no-credentials',
  'cross-site',
  'other-scheme',
  'throttled',
  'revoked',
  'replayed',
  'expired',
  'audience',
  'issuer',
  'unknown-key',
  'not-allowed',
  'scope',
  'step-up',
  'clear-text',
  'proof',
  'wrong-credentials',
  'malformed',
  'continued',
  'unavailable',
  'other',
] as const;

export interface Row {
  /** For the log and for developers; `{name}` stands for a value. */
  readonly text: string;
  readonly label: (typeof LABELS)[number];
}

/** A reason for which a server refuses credentials. */
export interface Refusal {
  /** A code of the table: programs compare it. */
  readonly refusal: string;
  /** The same in English, with its values. For the log, and for the client in development. */
  readonly reason: string;
}

type Part = Readonly<Record<string, Row>>;

/** Makes a refusal by its code, with the values that its text names. */
export type Refuse<Of extends Part> = <Code extends keyof Of & string>(
  code: Code,
  ...values: Given<Of[Code]['text']>
) => Refusal;

/** Creates the function that makes the refusals of a part of the table. */
export const refuser =
  <Of extends Part>(part: Of): Refuse<Of> =>
  (code, ...[values]) => {
    const given: Values = values ?? {};
    return { refusal: code, reason: filled(part[code]?.text ?? '', given) };
  };

/** The same refusal, of a part: its reason names the part first. */
export const within = (part: string, { refusal, reason }: Refusal): Refusal => ({
  refusal,
  reason: `${part}: ${reason}`,
});
