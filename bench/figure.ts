/** What one measurement found. A floor is what the machine gives to a program that does nothing but the one thing needed. */
export type Figure = {
  readonly name: string
  readonly unit: 'per second' | 'ms' | 's' | 'MB' | '×'
  readonly value: number
  /** The same, of the floor. */
  readonly floor?: number
  /** How much of the floor is reached, by the rounds: in each, the two were measured one right after the other. */
  readonly ratio?: { readonly median: number; readonly least: number; readonly most: number }
  readonly target?: Target
  /** What else was seen, as plain numbers. */
  readonly details?: Readonly<Record<string, number>>
  readonly rounds?: Rounds
}

/** A figure may have to reach a part of its floor, and a value of its own, from above or from below. */
export type Target = { readonly ratio?: number; readonly atLeast?: number; readonly below?: number }

export type Rounds = { readonly ours: readonly number[]; readonly floor: readonly number[] }

export const median = (values: readonly number[]): number => percentile(values, 0.5)

export const percentile = (values: readonly number[], part: number): number => {
  const sorted = values.toSorted((one, other) => one - other)
  const place = (sorted.length - 1) * part
  const [below = NaN, above = below] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]]
  return below + (above - below) * (place - Math.floor(place))
}

/** Measures the floor and the service in turns, so that other work of the machine affects both alike. */
export const inTurns = async (rounds: number, floor: () => Promise<number>, ours: () => Promise<number>) => {
  const measured: { ours: number[]; floor: number[] } = { ours: [], floor: [] }
  for (let round = 0; round < rounds; round++) {
    measured.floor.push(await floor())
    measured.ours.push(await ours())
  }
  return measured
}

/** The figure of rounds in which more is better. */
export const rated = (name: string, rounds: Rounds, rest: Pick<Figure, 'target' | 'details'> = {}): Figure => {
  const ratios = rounds.ours.map((value, round) => value / (rounds.floor[round] ?? NaN))
  return {
    name,
    unit: 'per second',
    value: median(rounds.ours),
    floor: median(rounds.floor),
    ratio: { median: median(ratios), least: Math.min(...ratios), most: Math.max(...ratios) },
    rounds,
    ...rest,
  }
}

export const meets = ({ value, ratio, target }: Figure): boolean | undefined =>
  target &&
  (target.ratio === undefined || (ratio !== undefined && ratio.median >= target.ratio)) &&
  (target.atLeast === undefined || value >= target.atLeast) &&
  (target.below === undefined || value < target.below)
