import type { Browser } from "playwright-core";

export const CHROMIUM: string;
export const hasChromium: boolean;
export function launch(): Promise<Browser>;
