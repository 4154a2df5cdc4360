/** The answers of somebody without anything to declare in the demo's journeys about life cover. */
export const nothingToDeclare = {
  smoker: 'no',
  alcohol_units: 6,
  hazardous_pursuits: false,
  height_cm: 178,
  weight_kg: 74.5,
  blood_pressure: 'none',
  serious_illness: 'none',
  family_history: false,
  occupation: 'Teacher',
} as const
