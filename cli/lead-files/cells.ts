/** The start of a text that a spreadsheet would take for a formula: one of these, or a wide form of it. */
const formula = /^'*[=+\-@\t\r\n＝＋－＠]/
const number = /^[+-]\d+(\.\d+)?$/

/** A text as it stands in a file. A formula is marked as text, as spreadsheets do; not so a number, such as a telephone's. */
export const toCell = (text: string): string => (formula.test(text) && !number.test(text) ? `'${text}` : text)

/** The text that a cell of a file stands for: the mark is none of its own. */
export const fromCell = (cell: string): string => (cell.startsWith("'") && formula.test(cell) ? cell.slice(1) : cell)
