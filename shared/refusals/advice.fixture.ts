/** The verbs with which a text tells a reader what to do. A verb is added here only with a text that needs it. */
const VERBS =
  'add|ask|authenticate|begin|change|check|choose|compare|configure|connect|give|keep|leave|let|log|look|make|mend|name|open|push|register|remove|repeat|restart|run|see|send|separate|set|show|sign|spell|start|stop|take|try|use|wait|write';

const SECOND_HALF = new RegExp(
  String.raw`(?:^|[:;,.] |\()(?:first |then )?(?:${VERBS})\b(?! of\b)`,
  'i',
);

/** True if a text tells its reader what to do: a clause in it begins with a verb. */
export const saysWhatToDo = (text: string): boolean => SECOND_HALF.test(text);
