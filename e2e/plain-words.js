/**
 * A rule of oxlint for `npm run check`: no comment and no test's title begins with a headless clause such as
 * "Who sends neither field". Readers take it for a question.
 */

export const HEADLESS = /^(?:who|whoever|what|of|for who)\b/i;
const MESSAGE =
  'Begin with the main clause and name the actor, not with Who, Whoever, What, Of or For who.';
const TESTS = new Set(['test', 'describe', 'it']);

/**
 * The name at the beginning of what is called: `test` of `test.each([...])(...)`.
 * @param {string} called
 */
const firstName = (called) => /^\w*/.exec(called)?.[0] ?? '';

/** @type {Parameters<import('oxlint/plugins-dev').RuleTester['run']>[1]} */
export const mainClauseFirst = {
  create(context) {
    const { sourceCode } = context;
    return {
      Program() {
        let lastLine = -1;
        for (const { type, value, loc } of sourceCode.getAllComments()) {
          // A further line of the same comment may begin with any word.
          const goesOn = type === 'Line' && loc.start.line === lastLine + 1;
          lastLine = type === 'Line' ? loc.end.line : -1;
          if (!goesOn && HEADLESS.test(value.replace(/^[\s*]+/, ''))) {
            context.report({ loc, message: MESSAGE });
          }
        }
      },
      CallExpression({ callee, arguments: [title] }) {
        if (title === undefined || !TESTS.has(firstName(sourceCode.getText(callee)))) return;
        if (HEADLESS.test(sourceCode.getText(title).slice(1))) {
          context.report({ node: title, message: MESSAGE });
        }
      },
    };
  },
};

export default { meta: { name: 'plain-words' }, rules: { 'main-clause-first': mainClauseFirst } };
