/** How long to look. */
export type Pace = {
  /** How often the floor and the service take turns. */
  readonly rounds: number
  /** How long each of them has at a turn. */
  readonly seconds: number
  /** How many events are replayed. */
  readonly events: number
  /** How often an append is waited for until it is visible. */
  readonly looks: number
  /** How many applications a full database has. */
  readonly applications: number
}

export const thorough: Pace = { rounds: 5, seconds: 3, events: 200_000, looks: 200, applications: 1_000_000 }
export const quick: Pace = { rounds: 3, seconds: 1, events: 20_000, looks: 50, applications: 100_000 }
