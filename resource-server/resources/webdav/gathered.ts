/** Characters of the longest whole, and how many are gathered at a time: each is in memory until its client has read it. */
const LONGEST = 1024 * 1024;
const AT_ONCE = 4;

/** Takes the whole of an answer. */
export type Keep = (whole: string) => Promise<void>;

let gathering = 0;

type Answer = AsyncGenerator<string, undefined>;

/**
 * Passes the pieces of an answer on. `keep` gets the whole once all have passed, unless it is too long or others are being
 * gathered: a client that reads slowly only keeps it from being kept.
 */
export const gathered = (pieces: Answer, keep: Keep): Answer =>
  gathering === AT_ONCE ? pieces : gather(pieces, keep);

async function* gather(pieces: Answer, keep: Keep): Answer {
  gathering += 1;
  try {
    let whole = '';
    let length = 0;
    for await (const piece of pieces) {
      length += piece.length;
      whole = length > LONGEST ? '' : whole + piece;
      yield piece;
    }
    if (length <= LONGEST) await keep(whole);
  } finally {
    gathering -= 1;
  }
}
