/** Of every type that JSON knows, and beyond the bounds that a value may have. */
export const wrongValues = [null, true, 'x', '', 12.5, -1, 1e15, [], {}, [null], ['x'], { x: 1 }, 'x'.repeat(3_000)]

/** Texts of the validator, which no caller is to see. */
export const wordsOfZod =
  /invalid input|expected|, received |too small|too big|unrecognized|invalid option|invalid (uuid|iso|url)/i
