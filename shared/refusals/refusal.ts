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

/** The names in braces. */
type NamesIn<Text> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NamesIn<Rest>
  : never;

type Given<Text> = [NamesIn<Text>] extends [never]
  ? []
  : [values: Readonly<Record<NamesIn<Text>, string | number>>];

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
    const given: Readonly<Record<string, string | number>> = values ?? {};
    const text = part[code]?.text ?? '';
    const reason = text.replaceAll(/\{(\w+)\}/g, (_, name: string) => `${given[name]}`);
    return { refusal: code, reason };
  };

/** The same refusal, of a part: its reason names the part first. */
export const within = (part: string, { refusal, reason }: Refusal): Refusal => ({
  refusal,
  reason: `${part}: ${reason}`,
});
