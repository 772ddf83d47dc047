/** The time of the last good backup, which was read back or which an operator recorded. */
export interface LastBackup {
  /** Replaces the time. `at`: when the copy began, in milliseconds since the epoch. */
  note(at: number): Promise<void>;
  get(): Promise<number | undefined>;
}

/** Returns the begin of the period of a moment, in milliseconds. Periods begin at multiples of their length. */
export const periodBegin = (moment: number, seconds: number): number =>
  moment - (moment % (seconds * 1000));

/** Whether a whole period has passed without a good backup. A time in the future proves nothing: a clock was ahead. */
export const isOverdue = (last: number, now: number, every: number): boolean =>
  last < periodBegin(now, every) - every * 1000 || last > now + every * 1000;
