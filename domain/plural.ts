/** `1 lead`, `2 leads`, `0 leads`. */
export const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`
