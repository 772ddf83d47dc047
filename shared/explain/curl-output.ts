/** Matches a line of a message: a mark that tells its direction, and the line itself. */
const MARKED = /^[<>] ?(.*)$/;

/** Matches the first line of a request or an answer (RFC 9112 section 2.1). */
const FIRST = /^(?:[A-Z]+ \S+ HTTP\/\d|HTTP\/\d\S* \d{3}\b)/;

/** Matches JSON of an answer on one line. curl may write a line of its own behind it. */
const JSON_LINE = /^(\{".*\})(?:\* .*)?$/;

/**
 * Returns the messages in what `curl -v` prints, without their contents, and JSON in a line of its own. Any other text is
 * one message as it is.
 */
export function messagesIn(text: string): readonly string[] {
  const all = text.split(/\r?\n/);
  const lines = all.flatMap((line) => MARKED.exec(line)?.[1] ?? []);
  const starts = lines.flatMap((line, at) => (FIRST.test(line) ? at : []));
  if (starts.length === 0) return [text];
  const messages = starts.map((at, index) => `${lines.slice(at, starts[index + 1]).join('\n')}\n`);
  return [...messages, ...all.flatMap((line) => JSON_LINE.exec(line)?.[1] ?? [])];
}
