/** When the last good backup was made: one that was read back, or that an operator recorded. */
export interface LastBackup {
  /** Takes the place of what was noted before. `at`: when the copy began, in milliseconds since the epoch. */
  note(at: number): Promise<void>;
  /** Undefined: no good backup is known. */
  get(): Promise<number | undefined>;
}

/** Returns the begin of the period in which a moment lies, in milliseconds. Periods are counted from the epoch. */
export const periodBegin = (moment: number, seconds: number): number =>
  moment - (moment % (seconds * 1000));

/** Whether a whole period has passed without a good backup. A note from a clock that went ahead tells of none. */
export const isOverdue = (last: number, now: number, every: number): boolean =>
  last < periodBegin(now, every) - every * 1000 || last > now + every * 1000;
